// Workers and parameter servers in simulation: what a step takes, by hand.
#include <gtest/gtest.h>

#include "isobar/sim/rank_work.hpp"
#include "isobar/sim/simulate.hpp"

#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

using tests::made_scenario;

// 3 MB of gradients go to the server and 3 MB of weights come back, at 1 GB/s, behind 100 ms of computing.
TEST(AsyncScenario, AWorkerWaitsForItsServer) {
  const Simulated result = simulate(made_scenario(2, "async"));
  EXPECT_NEAR(result.step_seconds, 0.106, 5e-5);
  EXPECT_NEAR(result.exposed_seconds, 0.006, 5e-5);
  EXPECT_NEAR(result.sent_bytes, 3e6, 200);
  EXPECT_EQ(result.sent_messages, 2);
  EXPECT_EQ(result.detail, "flows");
  EXPECT_EQ(result.strategy, "async: 1 worker, 1 parameter server");
  EXPECT_HAS(result.summary, "gradients were 0.00 updates old on average");
}

// Updates take 15 ms in all, wherever they are made: two servers make two thirds and one third of them at once.
TEST(AsyncScenario, ServersTakeTheirTimeForUpdates) {
  for (const auto& [servers, seconds] : {std::pair(1, 0.015), std::pair(2, 0.010), std::pair(3, 0.005)}) {
    Scenario scenario = made_scenario(1 + servers, fmt::format("async(servers={})", servers));
    const double before = simulate(scenario).step_seconds;
    for (WorkloadParameter& parameter : scenario.workload.parameters) parameter.update_seconds = 0.005;
    // Weights are also copied to where they travel, by worker and server: 12 of the 7 bytes for each that updates move.
    const double longer = simulate(scenario).step_seconds - before;
    EXPECT_NEAR(longer, seconds * (1 + 2.0 / 7), 2e-4) << servers;
  }
}

// A server hears one worker after the other: none of 64 is quicker than all of their gradients. Several servers hear
// the same worker at the same time, which has one link for all; but each has less to update.
TEST(AsyncScenario, ManyWorkersWaitForTheirServers) {
  const auto step_seconds = [](int servers, double update_seconds) {
    Scenario scenario = made_scenario(64 + servers, fmt::format("async(servers={})", servers));
    for (WorkloadParameter& parameter : scenario.workload.parameters) parameter.update_seconds = update_seconds;
    scenario.steps = 8;
    return simulate(scenario).step_seconds;
  };
  EXPECT_NEAR(step_seconds(1, 0), 64 * 0.003, 0.004);
  EXPECT_NEAR(step_seconds(3, 0), 64 * 0.003, 0.004);
  const double copied = 2.0 / 7;
  EXPECT_NEAR(step_seconds(1, 0.002), 64 * (0.003 + 0.006 * (1 + copied)), 0.02);
  EXPECT_LT(step_seconds(3, 0.002), 64 * (0.003 + 0.003 * (1 + copied)));
}

TEST(AsyncScenario, NobodyWaitsForALateWorker) {
  Scenario scenario = made_scenario(9, "async");
  scenario.platform.noise.sigma = 0.2;
  scenario.steps = 20;
  const double async = simulate(scenario).step_seconds;
  scenario.without.noise = true;
  EXPECT_NEAR(async / simulate(scenario).step_seconds, 1, 0.06);
  scenario = made_scenario(8, "sync");
  scenario.platform.noise.sigma = 0.2;
  scenario.steps = 20;
  EXPECT_GT(simulate(scenario).step_seconds, 0.1 * 1.15);
}

TEST(AsyncScenario, LossesAddUp) {
  Scenario scenario = made_scenario(9, "async(servers=2)");
  scenario.platform.network.message_overhead = 1e-4;
  scenario.platform.noise.sigma = 0.05;
  const Simulated result = simulate_losses(scenario);
  const Losses& lost = result.losses;
  EXPECT_NEAR(lost.stragglers + lost.input + lost.contention + lost.latency + lost.bandwidth,
              result.step_seconds - result.compute_seconds, 1e-9);
  EXPECT_NEAR(result.compute_seconds, 0.1, 1e-3);
  EXPECT_GT(lost.bandwidth, 0.005);
  EXPECT_GT(lost.latency, 1e-4);
}

TEST(AsyncScenario, SaysHowManyTrain) {
  EXPECT_EQ(replicas(made_scenario(9, "async(servers=2)")), 7);
  EXPECT_EQ(replicas(made_scenario(9)), 9);
  Scenario scenario = made_scenario(8);
  scenario.further_parts = {scenario.workload};
  EXPECT_EQ(replicas(scenario), 4);
  EXPECT_HAS(tests::error_of([] { simulate(made_scenario(2, "async(servers=2)")); }),
             "strategy 'async' needs 2 ranks to keep the parameters");
}

// Rounds are what ranks in lockstep have; with a rank in each team all is flows.
TEST(AsyncScenario, RanksAtTheirOwnPaceAreFlows) {
  Scenario scenario = made_scenario(9, "async(servers=2)");
  scenario.platform.noise.sigma = 0.1;
  scenario.detail = Detail::flows;
  const Simulated flows = simulate(scenario);
  scenario.detail = Detail::rounds;
  const Simulated rounds = simulate(scenario);
  EXPECT_EQ(rounds.detail, "flows");
  EXPECT_EQ(rounds.step_seconds, flows.step_seconds);
}

// However long it takes to be answered: nothing goes wrong in a simulation.
TEST(AsyncScenario, AWaitThatLastsIsNoStall) {
  Scenario scenario = made_scenario(65, "async(warn_seconds=0.05, stall_seconds=0.1)");
  scenario.steps = 3;
  EXPECT_NEAR(simulate(scenario).step_seconds, 64 * 0.003, 0.004);
}

}  // namespace
}  // namespace isobar::sim
