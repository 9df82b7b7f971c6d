#include "isobar/files/input_file.hpp"

#include <gtest/gtest.h>

#include "isobar/disk/output_file.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::files {
namespace {

using namespace isobar::tests;

TEST(InputFile, ReadsAnywhereUpToItsEnd) {
  const TemporaryFolder folder;
  disk::OutputFile out(folder / "a");
  out.write(std::vector<std::uint8_t>{1, 2, 3});
  out.commit();
  const InputFile read(folder / "a");
  EXPECT_EQ(read.size(), 3);
  std::vector<std::uint8_t> tail(2);
  read.read_at(1, tail);
  EXPECT_EQ(tail, (std::vector<std::uint8_t>{2, 3}));
  EXPECT_HAS(error_of([&] { read.read_at(2, tail); }), "ends at byte 3, but 2 bytes were expected from byte 2");
}

TEST(InputFile, OnlyRegularFiles) {
  const TemporaryFolder folder;
  EXPECT_HAS(error_of([&] { InputFile(folder / "absent"); }), "absent: cannot be opened");
  EXPECT_HAS(error_of([&] { InputFile(folder.path()); }), "not a regular file");
}

}  // namespace
}  // namespace isobar::files
