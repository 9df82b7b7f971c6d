#include "isobar/feeding/arrivals.hpp"

#include <thread>

#include "tests/datasets/samples.hpp"

namespace isobar::feeding {
namespace {

void arrivals_fill(Arrivals& arrivals, std::int64_t serial, std::vector<Arrivals::Key> samples) {
  for (std::size_t row = 0; row < samples.size(); ++row)
    std::ranges::fill(arrivals.memory_at(serial, row), static_cast<std::byte>(samples[row].second));
  arrivals.add(serial, samples);
}

void arrivals_expect(Arrivals& arrivals, Arrivals::Key key) {
  bool used = false;
  arrivals.take(key, [&](std::span<const std::byte> bytes) {
    used = true;
    ASSERT_EQ(bytes.size(), 8u);
    for (const std::byte byte : bytes) EXPECT_EQ(byte, static_cast<std::byte>(key.second));
  });
  EXPECT_TRUE(used);
}

TEST(Arrivals, ABatchThatWasTakenMakesRoomForALaterOne) {
  Arrivals arrivals(2, 3, 8);
  EXPECT_TRUE(arrivals.wait_for_room(0));
  arrivals_fill(arrivals, 0, {{0, 5}, {0, 7}});
  EXPECT_TRUE(arrivals.wait_for_room(1));
  arrivals_fill(arrivals, 1, {{0, 6}});
  bool all_taken = false;
  std::jthread later([&] {
    EXPECT_TRUE(arrivals.wait_for_room(2));
    EXPECT_TRUE(all_taken);
    arrivals_fill(arrivals, 2, {{1, 5}});
  });
  arrivals_expect(arrivals, {0, 7});
  arrivals_expect(arrivals, {0, 6});
  all_taken = true;
  arrivals_expect(arrivals, {0, 5});
  arrivals_expect(arrivals, {1, 5});
}

TEST(Arrivals, AfterTheEndOnlyUsedBatchesAreWantedAndNobodyWaits) {
  Arrivals arrivals(1, 1, 8);
  arrivals_fill(arrivals, 0, {{0, 5}});
  arrivals.end(1);
  arrivals.end(9);  // has no effect
  EXPECT_FALSE(arrivals.over(0));
  EXPECT_TRUE(arrivals.over(1));
  EXPECT_FALSE(arrivals.wait_for_room(1));
  arrivals_expect(arrivals, {0, 5});
  EXPECT_THROW(arrivals_expect(arrivals, {0, 6}), Error);
}

TEST(Arrivals, AnErrorReachesThoseWhoWaitButNotWhatHasArrived) {
  Arrivals arrivals(1, 1, 8);
  arrivals_fill(arrivals, 0, {{0, 5}});
  arrivals.break_off(std::make_exception_ptr(std::domain_error("gone")));
  arrivals_expect(arrivals, {0, 5});
  EXPECT_THROW(arrivals_expect(arrivals, {0, 6}), std::domain_error);
}

}  // namespace
}  // namespace isobar::feeding
