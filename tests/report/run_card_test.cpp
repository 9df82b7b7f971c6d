#include "isobar/report/run_card.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "isobar/report/card_facts.hpp"
#include "isobar/report/ledger.hpp"

#include "tests/expect_error.hpp"
#include "tests/report/card_run.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::report {
namespace {

using tests::TemporaryFolder;

// A row of a made run must be shown, with these parts in its figure.
void expect_shown(int number, const CardRun& run, std::initializer_list<const char*> parts) {
  const TemporaryFolder folder;
  const CardRow row = row_of(written(folder / "run", run), number);
  EXPECT_TRUE(row.shown) << number << ": " << row.missing;
  EXPECT_EQ(row.missing, "");
  for (const char* part : parts) EXPECT_HAS(row.figure, part);
}

void expect_not_shown(int number, const CardRun& run, std::initializer_list<const char*> parts) {
  const TemporaryFolder folder;
  const CardRow row = row_of(written(folder / "run", run), number);
  EXPECT_FALSE(row.shown) << number << ": " << row.figure;
  EXPECT_EQ(row.figure, "");
  for (const char* part : parts) EXPECT_HAS(row.missing, part);
}

TEST(RunCard, HasTwelveRowsInOrder) {
  const TemporaryFolder folder;
  const auto card = run_card(record::read_run(written(folder / "run")));
  ASSERT_EQ(card.size(), 12u);
  for (std::size_t i = 0; i < card.size(); ++i) EXPECT_EQ(card[i].number, static_cast<int>(i) + 1);
  EXPECT_EQ(rows_shown(card), 11) << card_text(card);  // all but scaling, which needs two runs
}

TEST(RunCard, AccuracyNextToEverySpeed) {
  expect_shown(1, {}, {"40 samples/s", "test mae 0.1 after epoch 2"});
  expect_not_shown(1, {.test = "", .evaluated = false},
                   {"40 samples/s stand alone", "no test set", "--set data.test="});
  expect_not_shown(1, {.reason = "", .evaluated = false}, {"no evaluation was finished", "isobar train"});
  expect_not_shown(1, {.timed = false}, {"no step of it was timed"});
}

TEST(RunCard, SpeedsAreReadable) {
  EXPECT_EQ(told_speed(10139.6), "10,140 samples/s");
  EXPECT_EQ(told_speed(26.1234), "26.12 samples/s");
  EXPECT_EQ(short_seconds(0.6789), "0.679 s");
  EXPECT_EQ(short_seconds(123), "2:03");
}

TEST(RunCard, TestAccuracyAndNotOnlyTraining) {
  expect_shown(2, {}, {"test mae 0.1", "test loss 0.25", "on 64 samples", "training loss 0.75", "not the best"});
  expect_not_shown(2, {.test = "", .evaluated = false}, {"training loss of 0.05 only"});
  expect_not_shown(2, {.test = "hdf5(path=universe/train)"}, {"is its training set"});
}

TEST(RunCard, SaysOnWhichSetChoicesWereMade) {
  const char* const target = "target = \"validation.mae<=0.4\"\n";
  const CardRun validated{.extra = target, .validation = "share(of=0.1, seed=1)"};
  expect_shown(2, validated, {"test mae 0.1", "judged on the validation set: the target"});
  expect_shown(10, validated, {"target mae<=0.4 reached on the validation set in", "epoch 2, step 20"});
  expect_not_shown(10, {.extra = "target = \"mae<=0.3\"\n", .validation = "share(of=0.1, seed=1)"}, {"best 0.35"});
  expect_shown(2, {.extra = "target = \"mae<=0.3\"\n"}, {"judged on the test set", "no validation set"});
  const TemporaryFolder folder;
  EXPECT_EQ(row_of(written(folder / "run"), 2).figure.find("judged"), std::string::npos);
}

TEST(RunCard, AllTuningRunsAreCounted) {
  expect_shown(3, {}, {"started once", "0 other runs of cosmoflow", "20 steps"});
  expect_shown(3, {.resumed_with = 1}, {"started 2 times (1 resumed, 0 overwritten; 3 steps", "23 steps"});
  expect_not_shown(3, {.history = false}, {"no history.jsonl"});
  const TemporaryFolder folder;
  written(folder / "a");
  written(folder / "b", {.optimizer = "adam(lr=0.1)"});
  written(folder / "c", {.history = false});
  written(folder / "other data", {.train = "hdf5(path=elsewhere)"});
  written(folder / "other network", {.model = "lenet"});
  const CardRow row = row_of(folder / "a", 3);
  EXPECT_HAS(row.figure, "2 other runs of cosmoflow on the same data beside it (1 with unknown restarts)");
  EXPECT_HAS(row.figure, "all together 60 steps in 17.2 s");  // 3 x (2 + 1 + 0.25 + 2.5)
}

TEST(RunCard, TooManyRunsBesideItAreNotAllCounted) {
  const TemporaryFolder folder;
  const record::RunRecord run = record::read_run(written(folder / "a"));
  for (const char* name : {"b", "c", "d"}) written(folder / name);
  const auto bytes = std::filesystem::file_size(folder / "b" / "timing.jsonl");
  EXPECT_EQ(siblings_of(run).runs.size(), 3u);
  EXPECT_TRUE(siblings_of(run).all);
  EXPECT_EQ(siblings_of(run, 2 * bytes).runs.size(), 2u);
  EXPECT_FALSE(siblings_of(run, 2 * bytes).all);
}

TEST(RunCard, HardwareWithItsYear) {
  expect_shown(4, {.ranks = 2}, {"Platinum 8375C", "Ice Lake, 2021", "2 ranks of 2 threads on 1 node"});
  expect_shown(4, {.extra = "processor_year = 2031\n", .processor = "Somebody's"}, {"Somebody's (2031)"});
  expect_not_shown(4, {.processor = "Somebody's"}, {"year is not known", "report.processor_year"});
  expect_not_shown(4, {.described = false}, {"no run.json"});
}

TEST(RunCard, TheWholeApplication) {
  // 80 samples in 2 s of steps, 1 s of evaluations, 0.25 s of checkpoints
  expect_shown(5, {},
               {"24.62 samples/s over", "evaluations (1 s)", "checkpoints (0.25 s)", "40 samples/s in steps alone",
                "kernels are 80.0 %", "wall time from the first step to the end"});
  // Teams at their own pace are at different steps: only the first is counted.
  expect_shown(5, {.ranks = 3, .teams = 2},
               {"24.62 samples/s on rank 0 over", "40 samples/s on rank 0 in steps alone"});
  expect_shown(5, {.reason = "", .profiled = false}, {"running or killed, recorded up to step 20"});
  expect_not_shown(5, {.timed = false}, {"no step of it was timed"});
}

TEST(RunCard, InputAndStaging) {
  expect_shown(6, {}, {"10.0 % of the steps' time (0.2 s) was waiting for input", "nothing was staged", "2.5 s"});
  expect_not_shown(6, {.staged = false}, {"how long staging took is not recorded"});
  expect_not_shown(6, {.train = "universe(size=32)"}, {"generated (universe(size=32))", "isobar data make"});
  expect_not_shown(6, {.timed = false}, {"no step"});
}

TEST(RunCard, FlopsWithTheirPrecision) {
  expect_shown(
      7, {}, {"1.00 GF for a sample", "float32", "multiply-add counts 2", "40.0 GF/s sustained", "40.0 %", "FMA loop"});
  expect_shown(7, {.step_seconds = 0.03}, {"133.3 % of", "measured while the machine was busy"});
  expect_not_shown(7, {.described = false}, {"precision of its FLOPs is not recorded"});
}

TEST(RunCard, SpeedAndAccuracyOfOneRun) {
  expect_shown(8, {}, {"1 rank with 2 threads, global batch 4", "plan 0123456789abcdef"});
  expect_shown(8, {.resumed_with = 1}, {"resumed 1 times with the same"});
  expect_shown(8, {.ranks = 3, .teams = 2}, {"not reproducible, since its teams went at their own pace"});
  expect_not_shown(8, {.resumed_with = 2}, {"another set-up (1 rank with 2 threads", "then 2 ranks"});
  expect_not_shown(8, {.test = "", .evaluated = false}, {"a speed and no accuracy"});
}

TEST(RunCard, InputSizeAgainstTheStandard) {
  expect_shown(9, {}, {"128x128x128x4, the size of MLPerf HPC CosmoFlow", "published network of 8,907,556 parameters"});
  expect_shown(9, {.inputs = "32x32x32x4", .parameters = 1000, .train_samples = 64},
               {"1.56 % of the values", "1,000 parameters, the published network has 8,907,556",
                "64 training samples (there 524,288)"});
  expect_not_shown(9, {.model = "gpt", .inputs = "128"}, {"no standard size of network 'gpt'"});
  expect_not_shown(9, {.described = false}, {"no run.json"});
}

TEST(RunCard, TimeToSolution) {
  // reached after epoch 2: 2 s of steps, 1 s of evaluations, 0.25 s for the checkpoint in between
  expect_shown(10, {},
               {"target of MLPerf HPC CosmoFlow mae<=0.124 reached", "(3.25 s of", "2.5 s of staging", "epoch 2"});
  expect_shown(10, {.extra = "target = \"mae<=0.3\"\n"}, {"target mae<=0.3 reached", "(1.5 s of", "epoch 1, step 10"});
  expect_not_shown(10, {.last_value = 0.2}, {"was not reached: best 0.2", "train.epochs="});
  expect_not_shown(10, {.extra = "target = \"accuracy>=0.9\"\n"}, {"accuracy>=0.9 was not evaluated"});
  expect_not_shown(10, {.model = "gpt", .inputs = "128"}, {"no quality was set as a target", "report.target=mae<=..."});
  // The target of the full-size network says nothing about a small one.
  expect_not_shown(10, {.inputs = "32x32x32x4"}, {"does not apply, as samples are 32x32x32x4"});
}

TEST(RunCard, StrongOrWeakScalingWithTheGlobalBatch) {
  expect_not_shown(11, {.ranks = 2}, {"one run with 2 ranks, global batch 4", "isobar scale"});
  const TemporaryFolder folder;
  written(folder / "one");
  written(folder / "strong", {.ranks = 2, .step_seconds = 0.0625});
  CardRow row = row_of(folder / "strong", 11);
  EXPECT_TRUE(row.shown) << row.missing;
  EXPECT_HAS(row.figure, "strong scaling from 1 rank (global batch 4) to 2 ranks (global batch 4): efficiency 80.0 %");
  EXPECT_HAS(row_of(folder / "one", 11).figure, "strong scaling from 1 rank (global batch 4) to 2 ranks");
  written(folder / "strong", {.ranks = 2, .batch = 8, .step_seconds = 0.125});
  EXPECT_HAS(row_of(folder / "strong", 11).figure,
             "weak scaling from 1 rank (global batch 4) to 2 ranks (global batch 8)");
  written(folder / "strong", {.ranks = 2, .batch = 6});  // neither
  EXPECT_FALSE(row_of(folder / "strong", 11).shown);
  written(folder / "strong", {.optimizer = "adam(lr=0.1)", .ranks = 2});  // not the same work
  EXPECT_FALSE(row_of(folder / "strong", 11).shown);
}

TEST(RunCard, ARunBesideItMayBeRemovedAtAnyMoment) {
  const TemporaryFolder folder;
  written(folder / "one");
  const record::RunRecord run = record::read_run(written(folder / "strong", {.ranks = 2, .step_seconds = 0.0625}));
  const CardFacts facts(run);
  EXPECT_TRUE(scaling_kind(facts).shown);
  std::filesystem::remove_all(folder / "one");
  EXPECT_FALSE(scaling_kind(facts).shown);
  EXPECT_HAS(scaling_kind(facts).text, "has no speed");
}

TEST(RunCard, TimeAndAccuracyAgainstTheReference) {
  expect_shown(12, {}, {"mae 0.1 against 0.124 (MLPerf HPC", "20 steps of 4", "there 17 to 20 epochs"});
  expect_not_shown(12, {.inputs = "32x32x32x4"}, {"samples are 32x32x32x4", "isobar report REFERENCE_RUN"});
  expect_not_shown(12, {.parameters = 5}, {"the network has 5 parameters"});
  expect_not_shown(12, {.train = "universe"}, {"samples are generated (universe)"});
  expect_not_shown(12, {.train_samples = 512}, {"512 training samples"});
  expect_not_shown(12, {.model = "gpt"}, {"no published result of network 'gpt'"});
  expect_not_shown(12, {.test = "", .evaluated = false}, {"mae of MLPerf HPC CosmoFlow was not evaluated"});
  expect_not_shown(12, {.model = "hep", .inputs = "224x224x3", .parameters = 594'178, .train_samples = 726'016},
                   {"no accuracy is published"});
  // Two metrics are called iou: only the one of the rules counts.
  CardRun deepcam{.model = "deepcam",
                  .metrics = R"x(["iou(kind=sample)"])x",
                  .metric = "iou",
                  .last_value = 0.83,
                  .inputs = "768x1152x16",
                  .parameters = 56'454'720,
                  .train_samples = 121'266};
  expect_shown(12, deepcam, {"iou 0.83 against 0.82"});
  deepcam.metrics = R"(["iou"])";
  expect_not_shown(12, deepcam, {"iou(kind=sample) of MLPerf HPC DeepCAM was not evaluated"});
}

TEST(RunCard, AKilledRunIsToldAsOne) {
  const TemporaryFolder folder;
  written(folder / "run", {.reason = ""});
  std::filesystem::resize_file(folder / "run" / "timing.jsonl", 900);  // in the middle of a line
  const auto card = run_card(record::read_run(folder / "run"));
  for (const int number : {1, 2, 5, 7})
    EXPECT_HAS(card[static_cast<std::size_t>(number) - 1].figure, "not ended: running or killed") << number;
  for (const CardRow& row : card) EXPECT_EQ(row.shown, row.missing.empty()) << row.number;
}

TEST(RunCard, AFolderWithARecipeOnlyShowsNothing) {
  const TemporaryFolder folder;
  written(folder / "run");
  for (const char* file : {"metrics.jsonl", "timing.jsonl", "history.jsonl", "run.json"})
    std::filesystem::remove(folder / "run" / file);
  EXPECT_EQ(rows_shown(run_card(record::read_run(folder / "run"))), 0);
}

TEST(RunCard, JsonTextAndHtmlSayTheSame) {
  const TemporaryFolder folder;
  const record::RunRecord run = record::read_run(written(folder / "a <run>"));
  const auto card = run_card(run);
  const auto json = nlohmann::json::parse(card_json(run, card));
  EXPECT_EQ(json["of"], 12);
  EXPECT_EQ(json["shown"], rows_shown(card));
  EXPECT_EQ(json["rows"][0]["figure"], card[0].figure);
  EXPECT_EQ(json["rows"][10]["missing"], card[10].missing);
  EXPECT_FALSE(json["rows"][10].contains("figure"));
  EXPECT_HAS(card_text(card), "Run card: 11 of 12 shown");
  EXPECT_HAS(card_html(card), "<b>11 of 12 shown.</b>");
  EXPECT_HAS(card_html(card), "<code>isobar scale");
  EXPECT_HAS(card_html(card), "a &lt;run&gt;");
  write_card(run, card);
  EXPECT_TRUE(std::filesystem::exists(run.folder / "run_card.json"));
  for (const std::string text = card_text(card, 80); const char c : text) ASSERT_NE(c, '\t');
}

}  // namespace
}  // namespace isobar::report
