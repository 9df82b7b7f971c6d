#include "isobar/sim/sum_costs.hpp"

#include <gtest/gtest.h>

#include "isobar/sim/in_child.hpp"

#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

// Numbers that `work` finds with the costs of `ranks` around one switch.
template <class Work>
std::vector<double> found(const Platform& platform, const Placement& placement, Work work) {
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
    const SumCost sum = costs.cost("ring", count), half = costs.cost("ring", count, comm::Wire::bfloat16);
    return std::vector{sum.latency, sum.transfer, sum.alone, sum.messages, sum.bytes, half.transfer};
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
  platform.node.memory_bytes_per_second = 12e9;
  const auto numbers =
      found(platform, {4, 1}, [&](SumCosts& costs) { return std::vector{costs.cost("ring", 4'000'000).adding}; });
  EXPECT_NEAR(numbers[0], 3 * 1e6 * 12 / 12e9, 1e-9);
}

TEST(SumCosts, AutoTakesFewRoundsForLittleAndLittleTrafficForMuch) {
  const std::string text = in_child([] {
    const Platform platform = tests::made_platform(32);
    const Topology topology(platform, 32);
    SumCosts costs(topology, platform, {32, 1});
    return costs.chosen("auto", 16).str() + " " + costs.chosen("auto", 8'000'000).str() + " " +
           costs.chosen("tree", 16).str() + "|" + costs.describe("auto") + "|" + costs.describe("native") + "|" +
           costs.describe("tree");
  });
  EXPECT_EQ(text, "recursive_doubling halving_doubling tree|auto: recursive_doubling, halving_doubling|native|tree");
}

TEST(SumCosts, SeveralRanksOfANodeSumInsideFirst) {
  const std::string text = in_child([] {
    const Platform platform = tests::made_platform(4);
    const Topology topology(platform, 4);
    SumCosts costs(topology, platform, {16, 4});
    const double flat = costs.cost("ring", 1'600'000).busy({}),
                 nested = costs.cost(costs.chosen("auto", 1'600'000), 1'600'000).busy({});
    return costs.chosen("auto", 1'600'000).name() + (nested < flat ? " faster" : " slower");
  });
  EXPECT_EQ(text, "hierarchical faster");
}

TEST(SumCosts, WhatIsLeftOutCostsNothing) {
  const SumCost sum{.latency = 1, .transfer = 4, .alone = 2, .adding = 8};
  EXPECT_EQ(sum.busy({}), 12);
  EXPECT_EQ(sum.busy({.contention = true}), 10);
  EXPECT_EQ(sum.busy({.bandwidth = true}), 0);
  EXPECT_EQ(sum.idle({}), 1);
  EXPECT_EQ(sum.idle({.latency = true}), 0);
}

}  // namespace
}  // namespace isobar::sim
