// OutputFile and OutputFolder: a committed file exists, an uncommitted one leaves nothing.
#include "isobar/disk/output_file.hpp"

#include <fstream>
#include <iterator>
#include <vector>

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::disk {
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
  std::ifstream in(folder / "a", std::ios::binary);
  EXPECT_EQ(Bytes(std::istreambuf_iterator<char>(in), {}), (Bytes{1, 2, 3}));
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
  EXPECT_EQ(std::filesystem::file_size(folder / "set/a"), 1u);
}

}  // namespace
}  // namespace isobar::disk
