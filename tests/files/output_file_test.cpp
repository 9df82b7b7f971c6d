// OutputFile, OutputFolder and InputFile: what was committed is there and read back, what was not leaves nothing.
#include "isobar/files/output_file.hpp"

#include <vector>

#include "isobar/files/input_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;
using Bytes = std::vector<std::uint8_t>;

std::int64_t entries(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator at(folder.path());
  return std::distance(begin(at), end(at));
}

TEST(OutputFile, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  {
    OutputFile dropped(folder / "a");
    dropped.write(Bytes{1, 2});
  }
  EXPECT_EQ(entries(folder), 0);
  OutputFile kept(folder / "a");
  kept.write(Bytes{1, 2});
  kept.write(Bytes{3});
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  kept.commit();
  EXPECT_EQ(entries(folder), 1);
  const InputFile read(folder / "a");
  EXPECT_EQ(read.size(), 3);
  Bytes tail(2);
  read.read_at(1, tail);
  EXPECT_EQ(tail, (Bytes{2, 3}));
  EXPECT_HAS(error_of([&] { read.read_at(2, tail); }), "ends at byte 3, but 2 bytes were expected from byte 2");
  EXPECT_HAS(error_of([&] { OutputFile(folder / "absent/a"); }), "absent/a: cannot be written");
}

TEST(OutputFolder, AppearsWholeOrNotAtAll) {
  const TemporaryFolder folder;
  for (const bool kept : {false, true}) {
    OutputFolder set(folder / "set/");
    OutputFile file(set.inside() / "a");
    file.write(Bytes{9});
    file.commit();
    if (kept) set.commit();
  }
  EXPECT_EQ(entries(folder), 1);
  EXPECT_EQ(InputFile(folder / "set/a").size(), 1);
}

TEST(InputFile, OnlyRegularFiles) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_of([&] { InputFile(folder / "absent"); }), "absent: cannot be opened");
  EXPECT_HAS(error_of([&] { InputFile(folder.path()); }), "no regular file");
}

}  // namespace
}  // namespace isobar::files
