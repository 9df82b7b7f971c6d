#include "isobar/comm/exchange_clock.hpp"

#include <gtest/gtest.h>

namespace isobar::comm {
namespace {

TEST(ExchangeClock, OverlappingSumsAreBusyOnce) {
  ExchangeClock clock;
  clock.begin(1);
  clock.begin(2);
  clock.end(3);
  EXPECT_EQ(clock.cost(4).busy_seconds, 3);  // the other is still under way
  clock.end(5);
  clock.begin(10);
  clock.end(11);
  clock.waited(0.5);
  clock.moved(2, 100);
  clock.moved(1, 10);
  const ExchangeCost cost = clock.cost(20);
  EXPECT_EQ(cost.busy_seconds, 5);
  EXPECT_EQ(cost.waited_seconds, 0.5);
  EXPECT_EQ(cost.sums, 3);
  EXPECT_EQ(cost.traffic.messages, 3);
  EXPECT_EQ(cost.traffic.bytes, 110);
}

}  // namespace
}  // namespace isobar::comm
