#include "isobar/forecast/forecast.hpp"

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

Sweep made_sweep() {
  return {.base = made_scenario(), .ranks = {2, 8}, .strategies = {"sync", "lagged(k=1)"}, .modes = {Mode::weak}};
}

ScenarioRunner made_runner() { return ScenarioRunner({.losses = true, .simulate = formula}); }

TEST(Forecast, WeakScalingIsAgainstOneRank) {
  ScenarioRunner runner = made_runner();
  const Forecast result = forecast(made_sweep(), runner);
  ASSERT_EQ(result.rows.size(), 4u);
  const ForecastRow& row = result.rows[1];
  EXPECT_EQ(row.strategy.str(), "sync");
  EXPECT_EQ(row.ranks, 8);
  EXPECT_EQ(row.batch, 4);
  EXPECT_DOUBLE_EQ(row.efficiency, 0.1 / row.simulated.step_seconds);
  EXPECT_DOUBLE_EQ(row.samples_per_second, 32 / row.simulated.step_seconds);
  EXPECT_DOUBLE_EQ(row.flops_per_second, 8e9 / row.simulated.step_seconds);
  EXPECT_GT(result.rows[3].efficiency, row.efficiency) << "lagged hides a half";
  EXPECT_EQ(result.error.runs, 0);
  EXPECT_HAS(result.error.text, "uncalibrated");
  EXPECT_EQ(runner.simulated(), 6) << "and one rank of each strategy";
}

TEST(Forecast, OneRankIsComparedWithoutNoise) {
  EXPECT_TRUE(scenario_of(made_sweep(), Mode::weak, "sync", 1).without.noise);
  EXPECT_FALSE(scenario_of(made_sweep(), Mode::weak, "sync", 2).without.noise);
}

TEST(Forecast, StrongScalingKeepsTheGlobalBatch) {
  ScenarioRunner runner = made_runner();
  Sweep sweep = made_sweep();
  sweep.modes = {Mode::strong};
  sweep.ranks = {2, 4, 16};
  const Forecast result = forecast(sweep, runner);
  ASSERT_EQ(result.rows.size(), 4u);
  EXPECT_DOUBLE_EQ(result.rows[0].efficiency, 1);
  EXPECT_EQ(result.rows[1].batch, 2);
  EXPECT_NEAR(result.rows[1].simulated.compute_seconds, 0.09 / 2 + 0.01, 1e-12);
  EXPECT_NEAR(result.rows[1].efficiency,
              result.rows[0].simulated.step_seconds * 2 / (result.rows[1].simulated.step_seconds * 4), 1e-12);
  ASSERT_EQ(result.notes.size(), 1u) << "said once, not for every strategy";
  EXPECT_HAS(result.notes[0], "16 ranks is left out: they would share 8 samples");
}

// What servers might have trained is lost.
TEST(Forecast, ServersCountAsRanks) {
  const auto told = [](const sim::Scenario& scenario, bool losses) {
    sim::Simulated result = formula(scenario, losses);
    if (scenario.strategy.name() == "async") result.summary = "48 updates (rank 0: 8, ...); gradients were old";
    return result;
  };
  ScenarioRunner runner({.losses = true, .simulate = told});
  Sweep sweep = made_sweep();
  sweep.strategies = {"async(servers=2)"};
  sweep.ranks = {1, 8};
  sweep.modes = {Mode::weak};
  const Forecast result = forecast(sweep, runner);
  ASSERT_EQ(result.rows.size(), 1u);
  const ForecastRow& row = result.rows[0];
  EXPECT_EQ(row.ranks, 8);
  EXPECT_DOUBLE_EQ(row.samples_per_second, 6 * 4 / row.simulated.step_seconds);
  EXPECT_DOUBLE_EQ(row.efficiency, 0.1 / row.simulated.step_seconds * 6 / 8);
  ASSERT_EQ(result.notes.size(), 2u);
  EXPECT_HAS(result.notes[0], "async(servers=2) on 1 rank is left out: strategy 'async' needs 2 ranks");
  EXPECT_EQ(result.notes[1], "async(servers=2) on 8 ranks: gradients were old");
  sweep.modes = {Mode::strong};
  sweep.base.workload.batch = 48;
  EXPECT_DOUBLE_EQ(forecast(sweep, runner).rows[0].batch, 48.0 / 6);
  sweep.ranks = {1, 2};
  EXPECT_HAS(tests::error_of([&] { forecast(sweep, runner); }), "and at least one that trains, but there are 2");
}

TEST(Forecast, CutModelsAreComparedWithOneReplica) {
  ScenarioRunner runner = made_runner();
  Sweep sweep = made_sweep();
  sweep.base.further_parts = {made_workload()};
  sweep.strategies = {"sync"};
  sweep.ranks = {2, 3, 8};
  const Forecast result = forecast(sweep, runner);
  ASSERT_EQ(result.rows.size(), 2u);
  const ForecastRow& row = result.rows[1];
  EXPECT_DOUBLE_EQ(row.samples_per_second, 4 * 4 / row.simulated.step_seconds);
  EXPECT_DOUBLE_EQ(row.flops_per_second, 8e9 / row.simulated.step_seconds) << "of both parts";
  EXPECT_DOUBLE_EQ(row.efficiency, result.rows[0].simulated.step_seconds / row.simulated.step_seconds);
  EXPECT_HAS(result.notes.at(0), "sync on 3 ranks is left out: 3 ranks cannot be divided");
}

TEST(Forecast, ImpossibleQuestionsAreAnswered) {
  ScenarioRunner runner = made_runner();
  const auto error = [&](auto change) {
    Sweep sweep = made_sweep();
    change(sweep);
    return tests::error_of([&] { forecast(sweep, runner); });
  };
  EXPECT_HAS(error([](Sweep& s) { s.ranks = {2049}; }), "2,049 ranks, but 'made' has 1,024 nodes with 2 ranks each");
  EXPECT_HAS(error([](Sweep& s) { s.ranks = {0}; }), "0 ranks; at least 1");
  EXPECT_HAS(error([](Sweep& s) { s.ranks.clear(); }), "for how many ranks?");
  EXPECT_HAS(error([](Sweep& s) { s.strategies = {"synch"}; }), "did you mean 'sync'");
  EXPECT_HAS(error([](Sweep& s) { s.strategies = {"sync(algoritm=ring)"}; }), "algorithm");
}

}  // namespace
}  // namespace isobar::forecast
