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
