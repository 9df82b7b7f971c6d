#include "isobar/sim/link_shares.hpp"

#include <gtest/gtest.h>

namespace isobar::sim {
namespace {

// Kinds of rounds on links 0 and 1: 0 uses the first, 1 the second, 2 both, 3 half of the first.
LinkShares made() {
  static const std::vector<std::vector<LinkShare>> kinds = {{{0, 1}}, {{1, 1}}, {{0, 1}, {1, 1}}, {{0, 0.5f}}};
  return LinkShares([](int round) -> std::span<const LinkShare> { return kinds[static_cast<std::size_t>(round)]; });
}

RoundPhase moving(int round, double seconds) { return {.round = round, .transfer = seconds}; }

TEST(LinkShares, OneSumTakesItsTime) {
  LinkShares links = made();
  const int sum = links.begin(5, {{0, 1, 2, 3}, {1, 1, 2, 3}});
  EXPECT_DOUBLE_EQ(links.end(sum), 17);
}

TEST(LinkShares, TwoOnOneLinkTakeTwiceAsLong) {
  LinkShares links = made();
  const int first = links.begin(0, {moving(0, 2)}), second = links.begin(1, {moving(0, 2)});
  EXPECT_DOUBLE_EQ(links.end(first), 3);   // alone for one second, then at half speed
  EXPECT_DOUBLE_EQ(links.end(second), 4);  // the link was never idle
}

TEST(LinkShares, OnDifferentLinksNobodyWaits) {
  LinkShares links = made();
  const int first = links.begin(0, {moving(0, 2)}), second = links.begin(0, {moving(1, 2)});
  EXPECT_DOUBLE_EQ(links.end(first), 2);
  EXPECT_DOUBLE_EQ(links.end(second), 2);
}

TEST(LinkShares, LatencyPassesBesideTransfers) {
  LinkShares links = made();
  const int first = links.begin(0, {moving(0, 2)}), second = links.begin(0, {{0, 2, 2, 0}});
  EXPECT_DOUBLE_EQ(links.end(first), 2);
  EXPECT_DOUBLE_EQ(links.end(second), 4);
}

TEST(LinkShares, WhatIsLeftOfALinkIsGiven) {
  LinkShares links = made();
  // Kinds 0 and 2 share link 0; kind 1 has what kind 2 leaves of link 1.
  const int a = links.begin(0, {moving(0, 1)}), b = links.begin(0, {moving(2, 1)}), c = links.begin(0, {moving(1, 1)});
  EXPECT_NEAR(links.end(a), 2, 1e-9);
  EXPECT_NEAR(links.end(b), 2, 1e-9);
  EXPECT_NEAR(links.end(c), 2, 1e-9);
  const int d = links.begin(10, {moving(3, 1)}), e = links.begin(10, {moving(3, 1)});
  EXPECT_NEAR(links.end(d), 11, 1e-9);
  EXPECT_NEAR(links.end(e), 11, 1e-9);
}

TEST(LinkShares, ASumOfNothingEndsAtOnce) {
  LinkShares links = made();
  EXPECT_EQ(links.end(links.begin(3, {})), 3);
  EXPECT_EQ(links.end(links.begin(4, {RoundPhase{}})), 4);
}

}  // namespace
}  // namespace isobar::sim
