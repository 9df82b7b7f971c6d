#include "isobar/datasets/glance.hpp"

#include "isobar/datasets/format.hpp"

#include "tests/datasets/samples.hpp"
#include "tests/files/made_files.hpp"

namespace isobar::datasets {
namespace {

using namespace isobar::tests;

FileBytes text(std::string_view content) { return {content.begin(), content.end()}; }

TEST(Glance, SeesThroughCompression) {
  const TemporaryFolder folder;
  const FileBytes content = text("NUMBERS and more");
  write_bytes(folder / "plain.DAT", content);
  write_gzip(folder / "packed.dat.gz", content);
  for (const char* name : {"plain.DAT", "packed.dat.gz"}) {
    const Glance glance = glance_at(folder / name);
    EXPECT_FALSE(glance.folder);
    EXPECT_EQ(glance.head, content) << name;
    EXPECT_TRUE(glance.begins("NUMBERS"));
    EXPECT_TRUE(glance.begins("and", 8));
    EXPECT_FALSE(glance.begins("more!", 12)) << "longer than what is there";
  }
}

TEST(Glance, OfAFolderTheFirstFilesInOrder) {
  const TemporaryFolder folder;
  write_bytes(folder / "set/b/1.bin", text("second"));
  write_bytes(folder / "set/a/2.bin", text("first"));
  write_bytes(folder / "set/.hidden", text("unseen"));
  const Glance glance = glance_at(folder / "set");
  EXPECT_TRUE(glance.folder);
  EXPECT_EQ(glance.inside, (std::vector<std::filesystem::path>{folder / "set/a/2.bin", folder / "set/b/1.bin"}));
  EXPECT_TRUE(glance.begins("first"));
  for (int i = 0; i < 100; ++i) write_bytes(folder / fmt::format("set/c/{}.bin", i), text("x"));
  EXPECT_EQ(glance_at(folder / "set").inside.size(), 64u);
}

TEST(Glance, WhatTellsAboutDataComesLast) {
  const TemporaryFolder folder;
  for (const char* name : {"LICENSE", "README.md", "SHA256SUMS", "a.csv"})
    write_bytes(folder / ("set/" + std::string(name)), text("words"));
  EXPECT_TRUE(glance_at(folder / "set").begins("words")) << "better than nothing";
  write_bytes(folder / "set/z.bin", text("numbers"));
  const Glance glance = glance_at(folder / "set");
  EXPECT_TRUE(glance.begins("numbers"));
  EXPECT_EQ(glance.inside.size(), 5u);
  EXPECT_EQ(glance.inside[1].filename(), "LICENSE");
}

TEST(Glance, WhatCannotBeSeenIsSaid) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_of([&] { glance_at(folder / "absent"); }), "no such file");
  std::filesystem::create_directory(folder / "empty");
  EXPECT_HAS(error_of([&] { glance_at(folder / "empty"); }), "no files");
  write_bytes(folder / "nothing", {});
  EXPECT_TRUE(glance_at(folder / "nothing").head.empty());
}

TEST(Formats, AreRecognisedByContentOrRefusedByName) {
  const TemporaryFolder folder;
  write_bytes(folder / "misnamed.jpg", text("\x89HDF\r\n\x1a\n and so on"));
  EXPECT_EQ(recognise(glance_at(folder / "misnamed.jpg")).name, "hdf5");
  write_bytes(folder / "notes.h5", text("just text"));
  const std::string message = error_of([&] { recognise(glance_at(folder / "notes.h5")); });
  EXPECT_HAS(message, "no known format");
  EXPECT_HAS(message, "hdf5");
  EXPECT_HAS(error_of([&] {
               make_dataset(Spec("auto", {{"path", (folder / "notes.h5").string()}}));
             }),
             "no known format");
}

TEST(Formats, OnlySomeCanBeWritten) {
  const TemporaryFolder folder;
  const Outline outline{{{"x", Shape{2}}}, 1, {}};
  EXPECT_HAS(error_of([&] { make_writer("noise", folder / "a", outline); }), "cannot be written");
  EXPECT_HAS(error_of([&] { make_writer("nothing", folder / "a", outline); }), "unknown format");
}

}  // namespace
}  // namespace isobar::datasets
