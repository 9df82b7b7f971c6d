#include "isobar/datasets/file_list.hpp"

#include "tests/datasets/samples.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

using tests::write_bytes;

TEST(ListFiles, FilesFoldersAndPatterns) {
  const TemporaryFolder folder;
  for (const char* name : {"set/b/1.npy", "set/a/2.NPY", "set/a/1.npy.gz", "set/a/notes.txt", "set/.hidden.npy"})
    write_bytes(folder / name, {});
  const auto names = [&](const std::string& path) {
    std::string all;
    for (const auto& file : list_files(folder / path, {".npy"}))
      all += file.lexically_relative(folder.path()).string() + " ";
    return all;
  };
  EXPECT_EQ(names("set"), "set/a/1.npy.gz set/a/2.NPY set/b/1.npy ");
  EXPECT_EQ(names("set/a/notes.txt"), "set/a/notes.txt ");
  EXPECT_EQ(names("set/a/?.*"), "set/a/1.npy.gz set/a/2.NPY ");
  EXPECT_HAS(error_of([&] { names("set/*.h5"); }), "no file in");
  EXPECT_HAS(error_of([&] { names("absent"); }), "no such file or folder");
  write_bytes(folder / "other/part-00000-of-00001", {});
  EXPECT_EQ(names("other"), "other/part-00000-of-00001 ");
  std::filesystem::create_directory(folder / "empty");
  EXPECT_HAS(error_of([&] { names("empty"); }), "holds no files");
}

}  // namespace
}  // namespace isobar::datasets
