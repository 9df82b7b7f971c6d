#include "isobar/disk/text_file.hpp"

#include "tests/capture.hpp"
#include "tests/expect_error.hpp"

namespace isobar::disk {
namespace {

using namespace isobar::tests;

TEST(WriteText, WritesWholeFilesOrSaysWhyNot) {
  const TemporaryFolder folder;
  write_text(folder / "a", "one\n");
  EXPECT_EQ(text_of(folder / "a"), "one\n");
  write_text(folder / "a", "three\n");
  EXPECT_EQ(text_of(folder / "a"), "three\n");
  EXPECT_HAS(tests::error_of([] { write_text("/dev/full", "text"); }),
             "/dev/full: cannot be written: No space left on device");
  EXPECT_HAS(tests::error_of([&] { write_text(folder / "none/a", "text"); }), "No such file");
}

}  // namespace
}  // namespace isobar::disk
