#include "isobar/sim/sum_costs.hpp"

#include <gtest/gtest.h>

#include "isobar/sim/in_child.hpp"

#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

// Numbers that `work` finds with the costs of `ranks` around one switch.
template <class Work>
std::vector<double> found(const Platform& platform, const RankNodes& placement, Work work) {
  const std::string text = in_child([&] {
    const Topology topology(platform, placement.nodes());
    SumCosts costs(topology, platform, placement);
    std::string line;
    for (const double number : work(costs)) line += fmt::format("{:.17g} ", number);
    return line;
  });
  std::vector<double> numbers;
  std::istringstream words(text);
  for (double number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

TEST(SumCosts, ARingCostsWhatItsFormulaSays) {
  const int ranks = 8;
  const std::size_t count = 800'000;
  const auto numbers = found(tests::made_platform(ranks), {ranks, 1}, [&](SumCosts& costs) {
    const SumCost sum = costs.cost("ring", count),
                  half = costs.cost("ring", count, *make(codec::codecs(), "bf16", "codec"));
    return std::vector{
        sum.latency,  sum.transfer, costs.cost("ring", count, *codec::plain(), {.contention = true}).transfer,
        sum.messages, sum.bytes,    half.transfer};
  });
  ASSERT_EQ(numbers.size(), 6u);
  EXPECT_NEAR(numbers[0], 14 * 2e-6, 1e-12);
  EXPECT_NEAR(numbers[1], 14 * 400'000 / 1e9, 1e-9);
  EXPECT_NEAR(numbers[2], numbers[1], 1e-9);  // nobody meets anybody at one switch
  EXPECT_EQ(numbers[3], 14);
  EXPECT_NEAR(numbers[4], 14 * 400'000, 1);
  EXPECT_NEAR(numbers[5], numbers[1] / 2, 1e-9);
}

TEST(SumCosts, MessagesCostTheirRanksPieceByPiece) {
  Platform platform = tests::made_platform(2);
  platform.network.message_overhead = 1e-3;
  platform.network.latency = 0;
  const auto numbers = found(platform, {2, 1}, [&](SumCosts& costs) {
    return std::vector{costs.cost("ring", 1000).latency, costs.cost("ring", 4 << 17).latency};
  });
  EXPECT_NEAR(numbers[0], 2e-3, 1e-9);
  EXPECT_NEAR(numbers[1], 4e-3, 1e-9);  // two rounds of two pieces
}

TEST(SumCosts, AddingIsPaidForByThoseWhoAdd) {
  Platform platform = tests::made_platform(4);
  platform.node.sum_bytes_per_second = 12e9;
  const auto numbers =
      found(platform, {4, 1}, [&](SumCosts& costs) { return std::vector{costs.cost("ring", 4'000'000).adding}; });
  EXPECT_NEAR(numbers[0], 3 * 1e6 * 12 / 12e9, 1e-9);
}

// Of 8 ranks each sends the bytes of 7 to its neighbour, and decodes those of all.
TEST(SumCosts, GatheringGoesOnceRoundTheRing) {
  Platform platform = tests::made_platform(8);
  platform.node.sum_bytes_per_second = 12e9;
  const auto numbers = found(platform, {8, 1}, [&](SumCosts& costs) {
    double latency = 0, transfer = 0;
    for (const RoundPhase& phase : costs.phases_of_gathering(400'000, {}))
      latency += phase.latency, transfer += phase.transfer;
    const GatheredCost own = costs.gathered(1'000'000, 400'000, {});
    return std::vector{latency, transfer, own.encoding, own.decoding,
                       costs.gathered(1'000'000, 400'000, {.bandwidth = true}).decoding};
  });
  ASSERT_EQ(numbers.size(), 5u);
  EXPECT_NEAR(numbers[0], 7 * 2e-6, 1e-12);
  EXPECT_NEAR(numbers[1], 7 * 400'000 / 1e9, 1e-9);
  EXPECT_NEAR(numbers[2], 4.4e6 / 12e9, 1e-12);
  EXPECT_NEAR(numbers[3], 8 * 3 * 0.4e6 / 12e9, 1e-12);
  EXPECT_EQ(numbers[4], 0);
}

TEST(SumCosts, AutoTakesFewRoundsForLittleAndLittleTrafficForMuch) {
  const std::string text = in_child([] {
    const Platform platform = tests::made_platform(32);
    const Topology topology(platform, 32);
    SumCosts costs(topology, platform, {32, 1});
    std::string words = costs.chosen("auto", 16).str() + " ";
    words += costs.chosen("auto", 8'000'000).str() + " ";
    words += costs.chosen("tree", 16).str() + "|";
    return words + costs.describe("auto") + "|" + costs.describe("native") + "|" + costs.describe("tree");
  });
  EXPECT_EQ(text, "recursive_doubling halving_doubling tree|auto: recursive_doubling, halving_doubling|native|tree");
}

TEST(SumCosts, SeveralRanksOfANodeSumInsideFirst) {
  const std::string text = in_child([] {
    Platform platform = tests::made_platform(4);
    platform.node.inside_bytes_per_second = 100e9;
    const Topology topology(platform, 4);
    SumCosts costs(topology, platform, {16, 4});
    const double flat = costs.cost("ring", 1'600'000).seconds(),
                 nested = costs.cost(costs.chosen("auto", 1'600'000), 1'600'000).seconds();
    return costs.chosen("auto", 1'600'000).name() + (nested < flat ? " faster" : " slower");
  });
  EXPECT_EQ(text, "hierarchical faster");
}

TEST(SumCosts, WhatIsLeftOutCostsNothing) {
  Platform platform = tests::made_platform(8);
  platform.node.sum_bytes_per_second = 12e9;
  const auto numbers = found(platform, {8, 1}, [&](SumCosts& costs) {
    std::vector<double> all;
    for (const Without& without :
         {Without{}, Without{.contention = true}, Without{.latency = true}, Without{.bandwidth = true}}) {
      const SumCost sum = costs.cost("tree", 1000, *codec::plain(), without);
      all.insert(all.end(), {sum.latency, sum.transfer, sum.adding});
    }
    return all;
  });
  ASSERT_EQ(numbers.size(), 12u);
  for (const std::size_t kept : {3u, 4u, 5u, 7u, 8u, 9u}) EXPECT_DOUBLE_EQ(numbers[kept], numbers[kept % 3]);
  for (const std::size_t left : {6u, 10u, 11u}) EXPECT_EQ(numbers[left], 0);
  for (const std::size_t with : {0u, 1u, 2u}) EXPECT_GT(numbers[with], 0);
}

}  // namespace
}  // namespace isobar::sim
