#include "isobar/sim/input.hpp"

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

Platform with_storage() {
  Platform platform = tests::made_platform(64);
  platform.file_system = {.bytes_per_second = 10e9, .client_bytes_per_second = 1e9};
  platform.burst_buffer = {.bytes_per_second = 100e9, .client_bytes_per_second = 2e9};
  return platform;
}

TEST(Input, NodesShareTheFileSystemUpToWhatAClientTakes) {
  const Platform platform = with_storage();
  EXPECT_DOUBLE_EQ(read_seconds(platform, Input::file_system, 4, 1, 1e6), 1e-3);
  EXPECT_DOUBLE_EQ(read_seconds(platform, Input::file_system, 40, 1, 1e6), 4e-3);
  EXPECT_DOUBLE_EQ(read_seconds(platform, Input::file_system, 40, 4, 1e6), 4e-3);  // ten clients, four ranks each
  EXPECT_DOUBLE_EQ(read_seconds(platform, Input::burst_buffer, 64, 1, 1e6), 1e6 / (100e9 / 64));
  EXPECT_EQ(read_seconds(platform, Input::none, 64, 1, 1e6), 0);
}

TEST(Input, ASourceThatIsNotThereIsRefused) {
  EXPECT_HAS(tests::error_of([] { read_seconds(with_storage(), Input::node_local, 1, 1, 1); }),
             "nodes of 'made' have no storage");
  EXPECT_HAS(tests::error_of([] { read_seconds(tests::made_platform(2), Input::file_system, 1, 1, 1); }),
             "platform 'made' has no [file_system]");
}

TEST(ReadAhead, FastReadingIsNeverWaitedForButOnce) {
  ReadAhead loader(0.1);
  double now = loader.ready(0);
  EXPECT_DOUBLE_EQ(now, 0.1);
  for (int step = 0; step < 5; ++step) {
    now += 1;
    EXPECT_DOUBLE_EQ(loader.ready(now), now);
  }
}

TEST(ReadAhead, SlowReadingSetsThePace) {
  ReadAhead loader(2);
  double now = 0, last = 0;
  for (int step = 0; step < 6; ++step) {
    now = loader.ready(now + 1);
    if (step > 0) {
      EXPECT_DOUBLE_EQ(now - last, 2);
    }
    last = now;
  }
}

TEST(ReadAhead, NoMoreIsReadAheadThanThereIsRoomFor) {
  ReadAhead loader(1);
  EXPECT_DOUBLE_EQ(loader.ready(0), 1);
  EXPECT_DOUBLE_EQ(loader.ready(1), 2);
  // A long pause: two batches lie there, the third begins to be read when the first of them is taken.
  EXPECT_DOUBLE_EQ(loader.ready(100), 100);
  EXPECT_DOUBLE_EQ(loader.ready(100), 100);
  EXPECT_DOUBLE_EQ(loader.ready(100), 101);
}

}  // namespace
}  // namespace isobar::sim
