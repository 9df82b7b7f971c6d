#include "isobar/comm/exchange_costs.hpp"

#include <gtest/gtest.h>

namespace isobar::comm {
namespace {

TEST(ExchangeCosts, GradientsAndMessagesAddUpApart) {
  const ExchangeCosts before{{1, 2, 3, {4, 5}}, {6, 7, 8, {9, 10}}}, now{{2, 4, 6, {8, 10}}, {7, 9, 11, {13, 15}}};
  const ExchangeCosts since = now - before;
  EXPECT_EQ(since.gradients.waited_seconds, 1);
  EXPECT_EQ(since.gradients.traffic.bytes, 5);
  EXPECT_EQ(since.messages.busy_seconds, 2);
  EXPECT_EQ(since.messages.sums, 3);
  EXPECT_EQ(since.messages.traffic.messages, 4);
  EXPECT_EQ(since.waited_seconds(), 2);
  EXPECT_EQ(since.bytes(), 10);
  EXPECT_EQ((before + since).messages.traffic.bytes, now.messages.traffic.bytes);
}

TEST(ExchangeCosts, HiddenIsWhatNobodyWaitedFor) {
  EXPECT_EQ(hidden_share({.waited_seconds = 1, .busy_seconds = 4}), 0.75);
  EXPECT_EQ(hidden_share({.waited_seconds = 5, .busy_seconds = 4}), 0.0) << "a rank that does the sum itself";
  EXPECT_EQ(hidden_share({}), std::nullopt) << "nothing was under way";
}

}  // namespace
}  // namespace isobar::comm
