#include "isobar/forecast/calibration.hpp"

#include <fstream>

#include "tests/expect_error.hpp"
#include "tests/forecast/made_scenario.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::forecast {
namespace {

// What a machine with these factors would have measured; `off` is an error that the model does not know.
std::vector<MeasuredRun> measured(const StepModel& model, const Factors& truth, std::initializer_list<int> ranks,
                                  double off = 0) {
  std::vector<MeasuredRun> runs;
  for (const int r : ranks) {
    MeasuredRun run{.ranks = r, .nodes = r, .batch = 4, .strategy = "sync", .name = "run"};
    run.step_seconds = model(run, truth) * (1 + (runs.size() % 2 == 0 ? off : -off));
    runs.push_back(run);
  }
  return runs;
}

StepModel made_model() {
  return simulated_step(made_scenario(), [](const sim::Scenario& s) { return formula(s); });
}

TEST(Calibration, FindsTheNumbersOfTheMachine) {
  const Factors truth{.compute_seconds = 1.7, .bytes_per_second = 0.4, .message_seconds = 30};
  const Calibration fit = calibrate(measured(made_model(), truth, {1, 2, 4, 64, 512}), made_model());
  EXPECT_EQ(fit.unknowns, 3);
  EXPECT_NEAR(fit.factors.compute_seconds, 1.7, 0.02);
  EXPECT_NEAR(fit.factors.bytes_per_second, 0.4, 0.02);
  EXPECT_NEAR(fit.factors.message_seconds, 30, 2);
  EXPECT_EQ(fit.error.runs, 5);
  EXPECT_LT(fit.error.mean, 0.02);
  EXPECT_HAS(fit.error.text, "5 measured runs of 1 to 512 ranks");
  EXPECT_HAS(fit.text(), "calibrated on 5 runs: kernels take 1.7 times as long");
}

TEST(Calibration, StatesHowFarItIsOff) {
  const Calibration fit = calibrate(measured(made_model(), {}, {1, 2, 4, 8}, 0.1), made_model());
  EXPECT_GT(fit.error.mean, 0.05);
  EXPECT_GE(fit.error.worst, fit.error.mean);
  EXPECT_LT(fit.error.worst, 1);
}

TEST(Calibration, FitsNoMoreThanRunsCanTell) {
  const auto unknowns = [](std::initializer_list<int> ranks) {
    return calibrate(measured(made_model(), {}, ranks), made_model()).unknowns;
  };
  EXPECT_EQ(unknowns({1}), 1);
  EXPECT_EQ(unknowns({4}), 1);
  EXPECT_EQ(unknowns({1, 1, 1}), 1) << "nobody exchanges";
  EXPECT_EQ(unknowns({1, 2}), 2);
  EXPECT_EQ(unknowns({1, 2, 2}), 2) << "one number of ranks";
  EXPECT_EQ(unknowns({1, 2, 4}), 3);
}

TEST(Calibration, WarnsOfNumbersThatRunsDoNotTell) {
  // Two ranks that are as fast as one: bytes would have to travel in no time.
  std::vector<MeasuredRun> runs = measured(made_model(), {}, {1, 2});
  runs[1].step_seconds = runs[0].step_seconds;
  EXPECT_HAS(calibrate(runs, made_model()).text(), "the search ended at its limit");
  EXPECT_EQ(calibrate(measured(made_model(), {}, {1, 2}), made_model()).text().find("warning"), std::string::npos);
}

TEST(Calibration, OfOneRunStatesNoError) {
  const Calibration fit = calibrate(measured(made_model(), {.compute_seconds = 2}, {1}), made_model());
  EXPECT_NEAR(fit.factors.compute_seconds, 2, 0.01);
  EXPECT_EQ(fit.error.runs, 0);
  EXPECT_HAS(fit.error.text, "its error is not known");
  EXPECT_HAS(tests::error_of([] { calibrate({}, made_model()); }), "no run was given");
}

TEST(Calibration, ReadsRunsOfOneRecipe) {
  const tests::TemporaryFolder folder;
  const auto make = [&](const std::string& name, int ranks, const std::string& model) {
    const auto path = folder / name;
    std::filesystem::create_directories(path);
    std::ofstream(path / "recipe.toml") << "model = \"" << model << "\"\nstrategy = \"lagged(k=1)\"\n";
    std::ofstream timing(path / "timing.jsonl");
    timing << R"({"kind":"start","ranks":)" << ranks << R"(,"nodes":)" << ranks << R"(,"global_batch":12})"
           << "\n";
    for (int s = 1; s <= 5; ++s)
      timing << R"({"kind":"step","step":)" << s << R"(,"samples":12,"seconds":)" << 0.25 / ranks << "}\n";
    timing << R"({"kind":"end","step":5,"seconds":2})"
           << "\n";
    std::ofstream(path / "metrics.jsonl") << "";
    return path;
  };
  const auto one = make("one", 1, "hep"), three = make("three", 3, "hep"), other = make("other", 2, "lenet");
  const auto runs = read_measured(std::vector{one, three});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].ranks, 3);
  EXPECT_EQ(runs[1].nodes, 3);
  EXPECT_EQ(runs[1].batch, 4);
  EXPECT_NEAR(runs[1].step_seconds, 0.25 / 3, 1e-6);
  EXPECT_EQ(runs[1].strategy.str(), "lagged(k=1)");
  EXPECT_HAS(tests::error_of([&] { read_measured(std::vector{one, other}); }), "runs of one recipe are needed");
  EXPECT_HAS(tests::error_of([&] { read_measured(std::vector{folder / "none"}); }), "did not begin");
}

}  // namespace
}  // namespace isobar::forecast
