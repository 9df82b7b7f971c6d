#include <gtest/gtest.h>

#include "isobar/disk/late_file.hpp"
#include "isobar/record/sinks.hpp"

namespace isobar::record {
namespace {

std::string said_at_the_end() {
  testing::internal::CaptureStderr();
  disk_summary()->end({});
  return testing::internal::GetCapturedStderr();
}

TEST(DiskSummary, NamesWhatCouldNotBeWrittenOnce) {
  testing::internal::CaptureStderr();
  disk::disk_warnings().given_up("run/curves.svg", "No space left on device");
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(said_at_the_end(), "isobar: warning: missing, since it could not be written: run/curves.svg\n");
  EXPECT_EQ(said_at_the_end(), "");
}

}  // namespace
}  // namespace isobar::record
