#include "isobar/forecast/scenario_runner.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/capture.hpp"
#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"

namespace isobar::forecast {
namespace {

std::vector<sim::Scenario> scenarios(std::initializer_list<int> ranks) {
  std::vector<sim::Scenario> all;
  for (const int r : ranks) {
    all.push_back(made_scenario());
    all.back().ranks = r;
  }
  return all;
}

TEST(ScenarioKey, DependsOnWhatASimulationDependsOn) {
  const sim::Scenario base = made_scenario();
  const std::string key = scenario_key(base);
  EXPECT_EQ(key.size(), 16u);
  sim::Scenario same = base;
  same.platform.summary = "other words";
  same.workload.origin = "elsewhere";
  EXPECT_EQ(scenario_key(same), key);
  const auto differs = [&](auto change) {
    sim::Scenario other = base;
    change(other);
    return scenario_key(other) != key;
  };
  EXPECT_TRUE(differs([](auto& s) { s.ranks = 2; }));
  EXPECT_TRUE(differs([](auto& s) { s.seed = 2; }));
  EXPECT_TRUE(differs([](auto& s) { s.strategy = "lagged(k=1)"; }));
  EXPECT_TRUE(differs([](auto& s) { s.workload.backward[0].seconds *= 1 + 1e-12; }));
  EXPECT_TRUE(differs([](auto& s) { s.workload.backward[0].final_parameters = {1}; }));
  EXPECT_TRUE(differs([](auto& s) { s.workload.parameters[0].count += 16; }));
  EXPECT_TRUE(differs([](auto& s) { s.workload.backward[0].talk = ops::Talk{}; }));
  EXPECT_TRUE(differs([](auto& s) { s.workload.optimizer_slots = 1; }));
  EXPECT_TRUE(differs([](auto& s) { s.further_parts = {s.workload}; }));
  EXPECT_TRUE(differs([](auto& s) { s.platform.network.shape = {4, 4}; }));
  EXPECT_TRUE(differs([](auto& s) { s.platform.noise.sigma = 0.01; }));
  EXPECT_TRUE(differs([](auto& s) { s.without.noise = true; }));
}

TEST(ScenarioKey, RowsAreReadBack) {
  const sim::Scenario scenario = scenarios({8})[0];
  const sim::Simulated simulated = formula(scenario, true);
  const auto row = read_row(nlohmann::json::parse(row_of("0123456789abcdef", scenario, simulated, true).dump()));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->key, "0123456789abcdef");
  EXPECT_TRUE(row->losses);
  EXPECT_EQ(row->simulated.step_seconds, simulated.step_seconds);
  EXPECT_EQ(row->simulated.losses.latency, simulated.losses.latency);
  EXPECT_EQ(row->simulated.detail, "flows");
  EXPECT_FALSE(read_row(nlohmann::json::parse(R"({"key":"0123456789abcdef","step_seconds":1})")));
}

TEST(ScenarioRunner, KeepsOrderAndSimulatesEqualOnesOnce) {
  std::atomic<int> calls = 0;
  ScenarioRunner runner({.simulate = [&](const sim::Scenario& s, bool losses) {
    ++calls;
    return formula(s, losses);
  }});
  const auto results = runner.run(scenarios({8, 1, 64, 8}));
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(results[0].step_seconds, results[3].step_seconds);
  EXPECT_LT(results[1].step_seconds, results[0].step_seconds);
  EXPECT_LT(results[0].step_seconds, results[2].step_seconds);
  EXPECT_EQ(runner.simulated(), 3);
}

TEST(ScenarioRunner, GoesOnWhereItStopped) {
  const tests::TemporaryFolder folder;
  std::atomic<bool> stop = false;
  RunnerOptions options{.folder = folder.path(), .at_once = 1, .stop = &stop};
  options.simulate = [&](const sim::Scenario& s, bool losses) {
    if (s.ranks == 2) stop = true;
    return formula(s, losses);
  };
  EXPECT_THROW(ScenarioRunner(options).run(scenarios({1, 2, 4})), Stopped);
  std::ofstream(folder / "rows.jsonl", std::ios::app) << "{\"torn";
  stop = false;
  options.resume = true;
  ScenarioRunner second(options);
  const auto results = second.run(scenarios({1, 2, 4}));
  EXPECT_EQ(second.found(), 2) << "a torn line is left out";
  EXPECT_EQ(results[2].step_seconds, formula(scenarios({4})[0]).step_seconds);
  std::ifstream rows(folder / "rows.jsonl");
  int lines = 0;
  for (std::string line; std::getline(rows, line); ++lines) EXPECT_TRUE(nlohmann::json::accept(line)) << line;
  EXPECT_EQ(lines, 3);
}

TEST(ScenarioRunner, ResumedItSimulatesOnlyWhatIsMissing) {
  const tests::TemporaryFolder folder;
  std::vector<int> seen;
  RunnerOptions options{.folder = folder.path(), .at_once = 1};
  options.simulate = [&](const sim::Scenario& s, bool losses) {
    seen.push_back(s.ranks);
    return formula(s, losses);
  };
  ScenarioRunner(options).run(scenarios({1, 2}));
  options.resume = true;
  ScenarioRunner again(options);
  again.run(scenarios({1, 2, 4}));
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(again.found(), 2);
  options.losses = true;
  ScenarioRunner(options).run(scenarios({4}));
  EXPECT_EQ(seen.size(), 4u) << "without its losses it is not known";
  options.resume = false;
  ScenarioRunner(options).run(scenarios({4}));
  EXPECT_EQ(seen.size(), 5u) << "not resumed, it begins anew";
}

TEST(ScenarioRunner, TheFirstErrorIsThrown) {
  ScenarioRunner runner({.simulate = [](const sim::Scenario& s, bool) -> sim::Simulated {
    if (s.ranks == 3) fail_usage("three is a bad number");
    return formula(s);
  }});
  EXPECT_HAS(tests::error_of([&] { runner.run(scenarios({1, 3, 4})); }), "three is a bad number");
}

TEST(ScenarioRunner, ShowsNothingOfShortWork) {
  const tests::Capture capture;
  ScenarioRunner runner({.progress = capture.file(), .simulate = formula});
  runner.run(scenarios({1, 2}));
  EXPECT_EQ(capture.text(), "");
}

}  // namespace
}  // namespace isobar::forecast
