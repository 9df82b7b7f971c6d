#include "isobar/sim/simulate.hpp"

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

using tests::made_scenario;

TEST(Simulate, OneRankOnlyComputes) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = made_scenario(1, "sync");
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    EXPECT_NEAR(result.step_seconds, 0.1, 1e-9) << result.detail;
    EXPECT_EQ(result.exposed_seconds, 0);
    EXPECT_EQ(result.sent_bytes, 0);
  }
}

// The last gradient of 1 MB goes round when nothing is left to hide it behind: 2 (P - 1) rounds of 1 / P.
TEST(Simulate, SyncShowsTheExchangeOfItsLastGradient) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = made_scenario(4, "sync(algorithm=ring, bucket_mb=0)");
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    const double last = 6 * (2e-6 + 250e3 / 1e9);
    EXPECT_NEAR(result.step_seconds, 0.1 + last, 1e-6) << result.detail;
    EXPECT_NEAR(result.exposed_seconds, last, 1e-6) << result.detail;
    EXPECT_NEAR(result.compute_seconds, 0.1, 1e-12);
  }
}

TEST(Simulate, LagHidesAnExchangeUntilItIsLongerThanAStep) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = made_scenario(4, "lagged(k=1, algorithm=ring)");
    scenario.detail = detail;
    // The loss is awaited in its own step: 16 numbers, as fast as rounds are.
    EXPECT_NEAR(simulate(scenario).step_seconds, 0.1, 5e-4);
    scenario.workload = tests::made_workload(25'000'000);
    const double all = 6 * 75e6 / 1e9;  // seconds of three gradients of 100 MB
    EXPECT_NEAR(simulate(scenario).step_seconds, all, 0.03 * all);
  }
}

TEST(Simulate, StrategyAndTrafficAreTold) {
  Scenario scenario = made_scenario(4, "sync(algorithm=halving_doubling, bucket_mb=2)");
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    EXPECT_EQ(result.strategy, "sync: halving_doubling, buckets of 2 MB");
    EXPECT_NEAR(result.sent_bytes, 2 * 0.75 * 3e6, 200) << result.detail;
    EXPECT_EQ(result.detail, detail == Detail::flows ? "flows" : "rounds");
  }
}

TEST(Simulate, StragglersHoldEverybodyUp) {
  Scenario scenario = made_scenario(16);
  scenario.platform.noise.sigma = 0.05;
  scenario.steps = 12;
  scenario.detail = Detail::rounds;
  const double noisy = simulate(scenario).step_seconds;
  scenario.without.noise = true;
  const double quiet = simulate(scenario).step_seconds;
  // The slowest of 16 lies about 1.77 sigma above the mean.
  EXPECT_NEAR(noisy - quiet, 1.77 * 0.05 * 0.1, 0.4 * 1.77 * 0.05 * 0.1);
}

TEST(Simulate, FlowsAndRoundsMeetTheSameNoise) {
  Scenario scenario = made_scenario(8);
  scenario.platform.noise = {.sigma = 0.05, .straggler_probability = 0.05, .straggler_seconds = 0.05};
  scenario.detail = Detail::flows;
  const double flows = simulate(scenario).step_seconds;
  scenario.detail = Detail::rounds;
  EXPECT_NEAR(simulate(scenario).step_seconds, flows, 0.02 * flows);
}

TEST(Simulate, SlowInputSetsThePace) {
  Scenario scenario = made_scenario(4);
  scenario.platform.file_system = {.bytes_per_second = 40e6};  // 4 ranks x 2 MB a step
  scenario.input = Input::file_system;
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    EXPECT_NEAR(result.step_seconds, 0.2, 1e-3);
    EXPECT_GT(result.input_seconds, 0.08);
  }
}

TEST(Simulate, LossesAddUpToWhatIsLost) {
  Scenario scenario = made_scenario(8, "sync(algorithm=ring)");
  scenario.platform.noise.sigma = 0.02;
  scenario.platform.file_system = {.bytes_per_second = 1e9};
  scenario.input = Input::file_system;
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    scenario.detail = detail;
    const Simulated result = simulate_losses(scenario);
    const Losses& lost = result.losses;
    EXPECT_NEAR(lost.stragglers + lost.input + lost.contention + lost.latency + lost.bandwidth,
                result.step_seconds - result.compute_seconds, 1e-9);
    EXPECT_GT(lost.stragglers, 0);
    EXPECT_GT(lost.bandwidth, 0);
    EXPECT_GT(lost.latency, 0);
    EXPECT_NEAR(lost.contention, 0, 1e-6);
  }
}

TEST(Simulate, FlowsAreLeftWhenTheyAreTooMany) {
  Scenario scenario = made_scenario(128, "sync(algorithm=ring)");
  EXPECT_EQ(simulate(scenario).detail, "flows");
  scenario = made_scenario(1100, "sync(algorithm=halving_doubling)");
  EXPECT_EQ(simulate(scenario).detail, "rounds");
}

TEST(Simulate, WhatCannotBeIsRefused) {
  Scenario scenario = made_scenario(4);
  scenario.ranks = 5;
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "need 5 nodes; platform 'made' has 4");
  scenario.ranks = 0;
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "0 ranks");
  scenario = made_scenario(4, "sink");
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "unknown strategy 'sink'");
  scenario = made_scenario(4, "sync(algorithm=rings)");
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "unknown algorithm 'rings'");
  scenario = made_scenario(3, "sync(deterministic=true)");
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "needs 1, 2, 4, 8, ... ranks");
}

}  // namespace
}  // namespace isobar::sim
