// Rounds cost the same as flows, within 5 %: every algorithm, every kind of network, one and several ranks on a node.
// Only where several sums by `tree` are under way, whose ranks have different things to do, it is 10 %: a round of one
// sum slows a whole round of another, and in flows only those messages of it that are met.
#include <cmath>

#include <gtest/gtest.h>

#include "isobar/comm/schedule.hpp"
#include "isobar/sim/simulate.hpp"

#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

void expect_alike(Scenario scenario, const std::string& what, double within = 0.05) {
  scenario.detail = Detail::flows;
  const double flows = simulate(scenario).step_seconds;
  scenario.detail = Detail::rounds;
  const double rounds = simulate(scenario).step_seconds;
  EXPECT_NEAR(rounds / flows, 1, within) << what << ": flows " << flows << " s, rounds " << rounds << " s";
}

Platform of_kind(NetworkModel::Kind kind, std::vector<std::int64_t> shape, std::vector<std::int64_t> up = {},
                 std::vector<std::int64_t> parallel = {}) {
  Platform platform = tests::made_platform(64);
  platform.network.kind = kind;
  platform.network.shape = std::move(shape);
  platform.network.up = std::move(up);
  platform.network.parallel = std::move(parallel);
  platform.network.hop_latency = 1e-6;
  platform.network.message_overhead = 2e-6;
  platform.node.sum_bytes_per_second = 20e9;
  return platform;
}

TEST(FlowsAndRounds, AgreeForEveryAlgorithm) {
  for (const auto* row : comm::all_reduces())
    for (const int ranks : {2, 8, 16, 31}) {
      if (row->name == "reproducible" && ranks == 31) continue;
      Scenario scenario = tests::made_scenario(ranks, "sync(bucket_mb=1)");
      scenario.strategy.set("algorithm", Value(Spec(row->name)));
      scenario.workload = tests::made_workload(2'000'000);  // as long to exchange as to compute
      expect_alike(scenario, fmt::format("{} of {}", row->name, ranks), row->name == "tree" ? 0.1 : 0.05);
      scenario.strategy.set("bucket_mb", Value(1000));  // one sum at a time
      expect_alike(scenario, fmt::format("{} of {}, one sum", row->name, ranks));
    }
}

TEST(FlowsAndRounds, AgreeOnEveryNetwork) {
  using Kind = NetworkModel::Kind;
  const std::pair<const char*, Platform> platforms[] = {
      {"fat tree", of_kind(Kind::fat_tree, {8, 8}, {1, 4}, {1, 1})},
      {"dragonfly", of_kind(Kind::dragonfly, {4, 1, 8, 2}, {}, {2, 1, 1})},
      {"torus", of_kind(Kind::torus, {4, 4, 4})},
  };
  for (const auto& [name, platform] : platforms)
    for (const char* algorithm : {"ring", "halving_doubling"})
      for (const int ranks : {16, 64}) {
        Scenario scenario = tests::made_scenario(ranks, "sync");
        scenario.strategy.set("algorithm", Value(Spec(algorithm)));
        scenario.platform = platform;
        scenario.workload = tests::made_workload(4'000'000);
        expect_alike(scenario, fmt::format("{} of {} on a {}", algorithm, ranks, name));
      }
}

TEST(FlowsAndRounds, AgreeWithSeveralRanksOnANode) {
  for (const char* strategy :
       {"sync(algorithm=hierarchical)", "sync(algorithm=ring)", "lagged(k=1, algorithm=hierarchical)"}) {
    Scenario scenario = tests::made_scenario(24, strategy);
    scenario.platform.node.ranks = 6;
    scenario.workload = tests::made_workload(4'000'000);
    expect_alike(scenario, strategy);
  }
}

TEST(FlowsAndRounds, AgreeForNumbersThatAreGathered) {
  for (const int ranks : {1, 2, 8, 31})
    for (const char* strategy : {"sync(codec=topk(share=0.1), bucket_mb=0)", "sync(codec=topk(share=0.3))",
                                 "lagged(k=1, codec=topk(share=0.1))", "sync(codec=bf16, algorithm=ring)"}) {
      Scenario scenario = tests::made_scenario(ranks, strategy);
      scenario.workload = tests::made_workload(2'000'000);
      scenario.platform.network.message_overhead = 2e-6;
      scenario.platform.node.sum_bytes_per_second = 20e9;
      scenario.platform.node.memory_bytes_per_second = 50e9;
      expect_alike(scenario, fmt::format("{} of {}", strategy, ranks));
    }
}

}  // namespace
}  // namespace isobar::sim
