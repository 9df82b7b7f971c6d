#include "isobar/report/strategy_study.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/parallel/server_counts.hpp"
#include "isobar/report/run_curves.hpp"

#include "tests/expect_error.hpp"
#include "tests/report/card_run.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::report {
namespace {

using tests::TemporaryFolder;
using State = StudiedRun::State;

TEST(SeedMean, IsStudentsInterval) {
  const double values[] = {1, 2, 3};
  const SeedMean mean = mean_of_seeds(values);
  EXPECT_DOUBLE_EQ(mean.mean, 2);
  EXPECT_NEAR(mean.low, 2 - 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(mean.high, 2 + 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(mean_of_seeds({}).seeds, 0u);
  EXPECT_EQ(mean_of_seeds(std::span(values, 1)).low, 1);
  EXPECT_EQ(mean_of_seeds(std::span(values, 1)).high, 1);
}

TEST(Staleness, IsReadAsServersWordIt) {
  parallel::ServingCounts counts;
  counts.workers.resize(2);
  for (const int age : {1, 2, 2}) counts.workers[0].ages.add(age);
  const std::vector<int> ranks{0, 1};
  ASSERT_TRUE(staleness_in(counts.summary(ranks)).has_value()) << counts.summary(ranks);
  EXPECT_NEAR(*staleness_in(counts.summary(ranks)), 5.0 / 3, 0.005);
  EXPECT_FALSE(staleness_in("").has_value());
  EXPECT_FALSE(staleness_in("the server was busy 31 % of the time").has_value());
}

// Two strategies with two seeds each; the evaluations of a run are at 1.5 s and 3.25 s, and staging took 2.5 s.
std::vector<StudyRun> two_by_two(const TemporaryFolder& folder) {
  return {{"sync", 1, written(folder / "sync/seed-1", {.last_value = 0.10}), "", 3e6},
          {"stale(bound=3)", 1, written(folder / "stale/seed-1", {.first_value = 0.12, .last_value = 0.11}), "", 4e6},
          {"stale(bound=3)", 2, written(folder / "stale/seed-2", {.last_value = 0.13}), "", 5e6},
          {"sync", 2, written(folder / "sync/seed-2", {.last_value = 0.14}), "", 2e6}};
}

std::string cell(const StrategyStudy& study, const std::string& column, std::size_t row) {
  for (const StudyColumn& each : study_columns(study))
    if (each.name == column) return each.values.at(row);
  return "no such column";
}

TEST(StrategyStudy, SumsUpTheSeedsOfEachStrategy) {
  const TemporaryFolder folder;
  const StudySetting setting{"small", {"sync", "stale(bound=3)"}, 4, "", train::read_target("mae<=0.125")};
  const StrategyStudy study = study_strategies(setting, two_by_two(folder));
  ASSERT_EQ(study.strategies.size(), 2u);
  EXPECT_EQ(study.metric, "mae");
  EXPECT_EQ(study.strategies[0].finished, 2u);
  EXPECT_NEAR(study.strategies[0].result.mean, 0.12, 1e-9);
  EXPECT_NEAR(study.strategies[0].result.high, 0.12 + 12.706 * 0.02, 1e-9);
  // Of sync seed 1 reached it, at its end; of stale seed 1, after its first epoch.
  EXPECT_EQ(study.strategies[0].to_target, std::vector{3.25 + 2.5});
  EXPECT_EQ(study.strategies[1].to_target, std::vector{1.5 + 2.5});
  EXPECT_EQ(cell(study, "time to mae<=0.125", 0), "5.75 s, 1 of 2 runs");
  EXPECT_EQ(cell(study, "runs", 0), "2");
  EXPECT_EQ(cell(study, "memory", 0), "3.00 MB");
  EXPECT_EQ(cell(study, "memory", 1), "5.00 MB");
  EXPECT_EQ(cell(study, "sent in a step", 0), "1.00 kB");
  EXPECT_EQ(cell(study, "staleness", 0), "");
  EXPECT_TRUE(study_notes(study).empty());
  ASSERT_EQ(study.panels.size(), 4u);
  EXPECT_EQ(study.panels[0].curves[0].name, "sync");
  EXPECT_EQ(study.panels[2].title, "test mae");
  EXPECT_NEAR(study.panels[2].curves[0].values.back(), 0.12, 1e-9);
}

TEST(StrategyStudy, WithoutATargetTakesWhatAllReached) {
  const TemporaryFolder folder;
  const StrategyStudy study = study_strategies({"small", {"sync", "stale(bound=3)"}, 4}, two_by_two(folder));
  ASSERT_TRUE(study.target.has_value());
  EXPECT_EQ(study.target->str(), "mae<=0.14");
  EXPECT_EQ(study.strategies[0].to_target.size(), 2u);
  EXPECT_HAS(study_text(study), "what all runs that finished reached");
}

TEST(StrategyStudy, ShowsRunsThatFailedWithTheReason) {
  const TemporaryFolder folder;
  std::vector<StudyRun> runs = two_by_two(folder);
  runs[2].failure = "step 3: the loss is not finite";
  runs.push_back({"local(steps=8)", 1, folder / "local/seed-1"});
  runs.push_back({"lagged(k=1)", 1, written(folder / "lagged/seed-1", {.reason = "interrupted"})});
  const StrategyStudy study =
      study_strategies({"small", {"sync", "stale(bound=3)", "local(steps=8)", "lagged(k=1)"}, 4, "1:3"}, runs);
  EXPECT_EQ(study.strategies[1].runs[1].state, State::failed);
  EXPECT_EQ(cell(study, "runs", 1), "1 of 2, 1 failed");
  EXPECT_EQ(cell(study, "runs", 2), "0 of 1, 1 unfinished");
  EXPECT_EQ(cell(study, "test mae", 1), "0.11");
  EXPECT_EQ(cell(study, "test mae", 2), "");
  for (const std::string& shown : {study_text(study), study_html(study, folder / "")}) {
    EXPECT_HAS(shown, "stale(bound=3), seed 2: failed: step 3: the loss is not finite");
    EXPECT_HAS(shown, "local(steps=8), seed 1: unfinished: not begun");
    EXPECT_HAS(shown, "lagged(k=1), seed 1: unfinished: stopped after 20 steps");
    EXPECT_HAS(shown, "Ranks were made slower for this comparison: 1:3");
  }
}

TEST(StrategyStudy, CallsARunDivergedWhoseLossGrew) {
  const TemporaryFolder folder;
  const auto run = written(folder / "a");
  std::ofstream(run / "metrics.jsonl") << R"({"kind":"step","step":1,"epoch":1,"loss":2})"
                                       << "\n"
                                       << R"({"kind":"step","step":2,"epoch":1,"loss":5})"
                                       << "\n"
                                       << R"({"kind":"end","step":2,"reason":"finished","test":{"mae":7}})"
                                       << "\n";
  const std::vector<StudyRun> runs{{"async", 1, run}};
  const StrategyStudy study = study_strategies({"small", {"async"}, 4}, runs);
  EXPECT_EQ(study.strategies[0].runs[0].state, State::diverged);
  EXPECT_EQ(study.strategies[0].runs[0].reason, "the training loss is 5 at the end and was 2 at the beginning");
  EXPECT_EQ(study.strategies[0].finished, 0u);
  EXPECT_TRUE(study.panels.empty());
}

TEST(StrategyStudy, IsWrittenForPeopleAndPrograms) {
  const TemporaryFolder folder;
  const StudySetting setting{"small", {"sync", "stale(bound=3)"}, 4, "", train::read_target("mae<=0.125")};
  const std::vector<StudyRun> runs = two_by_two(folder);
  std::ofstream(runs[0].folder / "report.html") << "a page";
  const StrategyStudy study = study_strategies(setting, runs);
  const auto json = nlohmann::json::parse(study_json(study));
  EXPECT_EQ(json["strategies"][1]["strategy"], "stale(bound=3)");
  EXPECT_EQ(json["strategies"][1]["runs"][0]["seconds_to_target"], 4.0);
  EXPECT_EQ(json["strategies"][1]["runs"][1]["seconds_to_target"], nullptr);
  EXPECT_NEAR(json["strategies"][0]["result"]["mean"], 0.12, 1e-9);
  const std::string csv = study_csv(study);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_HAS(csv, "\nsync,1,finished,mae,0.1,mae<=0.125,5.75,");
  const std::string page = study_html(study, folder / "");
  EXPECT_HAS(page, "small: 2 strategies on 4 ranks");
  EXPECT_HAS(page, "class=\"name\" href=\"sync/seed-1/report.html\"");
  EXPECT_HAS(page, "training loss by sample");
  EXPECT_HAS(page, "test mae by millisecond");
}

// Where teams go at their own pace, the first reports its own samples.
TEST(RunCurves, CountTheSamplesOfAllTeams) {
  record::RunRecord run;
  run.teams = 3, run.global_batch = 6;
  for (int step = 1; step <= 4; ++step)
    run.steps.push_back({.step = step, .epoch = 1, .samples = 2, .loss = 1.0 / step});
  const Curve curve = loss_curve("async", run, along_samples);
  EXPECT_EQ(curve.epochs, (std::vector<double>{6, 12, 18, 24}));
  const std::vector<Evaluation> evaluations{{.epoch = 1, .step = 3, .values = {{"mae", 0.5}}, .seconds = 2}};
  EXPECT_EQ(result_curve("async", run, evaluations, "mae", along_samples).epochs, std::vector{18.0});
  EXPECT_EQ(result_curve("async", run, evaluations, "mae", along_seconds).epochs, std::vector{2.0});
  EXPECT_EQ(result_curve("async", run, evaluations, "mae", along_steps).epochs, std::vector{3.0});
  Panel panel{"loss", {curve}, "second"};
  for (double& x : panel.curves[0].epochs) x /= 10;
  ASSERT_TRUE(choose_unit(panel));
  EXPECT_EQ(panel.along, "millisecond");
  EXPECT_NEAR(panel.curves[0].epochs[0], 600, 1e-9);
  Panel empty{"loss", {{"a"}}};
  EXPECT_FALSE(choose_unit(empty));
}

}  // namespace
}  // namespace isobar::report
