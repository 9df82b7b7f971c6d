// isobar compare: a recipe with several strategies, one run after the other.
#include "tests/cli/launched.hpp"

namespace {

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

long lines_of(const std::string& file) { return std::ranges::count(text_of(file), '\n'); }

TEST(Compare, RunsAllOnceAndShowsATable) {
  const TemporaryFolder folder;
  const std::string study = folder / "study";
  const std::string call = "compare " + small_recipe(folder) + " --strategies 'sync; local(steps=2)'";
  const std::string command = call + " --ranks 2 --seeds 2 --target 'test.loss<=1e9' --slow 1:2 --folder " + study;
  const Outcome outcome = run_isobar(command);
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "run 4 of 4: sync, seed 2: finished");
  EXPECT_SHOWS(outcome, "time to loss<=1e+09");
  for (const char* name : {"page.html", "results.json"}) EXPECT_TRUE(fs::exists(study + "/" + name));
  EXPECT_EQ(lines_of(study + "/results.csv"), 5);
  EXPECT_NE(text_of(study + "/local-steps-2/seed-2/recipe.toml").find("slow = \"1:2\""), std::string::npos);

  const Outcome again = run_isobar(command);
  EXPECT_EQ(again.code, 1) << again;
  EXPECT_SHOWS(again, "--resume continues it");
  // With one strategy more only that one is run.
  const Outcome more = run_isobar("compare " + small_recipe(folder) +
                                  " --strategies 'sync; local(steps=2); async' --ranks 2 --seeds 2 --resume "
                                  "--target 'loss<=1e9' --slow 0:2 --folder " +
                                  study);
  EXPECT_EQ(more.code, 1) << more;
  EXPECT_SHOWS(more, "was begun with another recipe");
  const Outcome resumed = run_isobar("compare " + small_recipe(folder) +
                                     " --strategies 'sync; local(steps=2); easgd' --ranks 2 --seeds 2 --resume "
                                     "--slow 1:2 --folder " +
                                     study);
  EXPECT_EQ(resumed.code, 0) << resumed;
  EXPECT_SHOWS(resumed, "easgd, seed 2: finished");
  EXPECT_EQ(lines_of(study + "/results.csv"), 7);
  for (const char* run : {"sync/seed-1", "sync/seed-2", "local-steps-2/seed-1", "easgd/seed-2"})
    EXPECT_EQ(lines_of(study + "/" + run + "/history.jsonl"), 1) << run;
}

TEST(Compare, ASlowRankComputesTheSame) {
  const TemporaryFolder folder;
  const std::string call = "compare " + small_recipe(folder) + " --strategies sync --ranks 2 --folder ";
  for (const std::string& study : {folder / "plain", folder / "slow --slow 1:3"}) {
    const Outcome outcome = run_isobar(call + study);
    ASSERT_EQ(outcome.code, 0) << outcome;
  }
  const std::string metrics = "/sync/seed-1/metrics.jsonl";
  EXPECT_GT(lines_of(folder / "plain" + metrics), 10);
  EXPECT_EQ(text_of(folder / "plain" + metrics), text_of(folder / "slow" + metrics));
}

TEST(Compare, ARunThatFailsIsARow) {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_isobar("compare " + small_recipe(folder) +
                 " --strategies 'local(steps=2, outer=sgd(lr=1e38)); sync' --ranks 2 --folder " + folder / "study");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "sync, seed 1: finished");
  EXPECT_SHOWS(outcome, "note: local(steps=2, outer=sgd(lr=1e38)), seed 1: failed: ");
  const Outcome none = run_isobar("compare " + small_recipe(folder) +
                                  " --strategies sync --set optimizer.lr=1e38 --ranks 2 --folder " + folder / "none");
  EXPECT_EQ(none.code, 1) << none;
  EXPECT_SHOWS(none, "no run finished");
}

TEST(Compare, ASignalStopsItAndResumeGoesOn) {
  const TemporaryFolder folder;
  const std::string command = std::string(ISOBAR_PROGRAM) + " compare " + small_recipe(folder) +
                              " --strategies 'sync; async' --ranks 2 --set train.epochs=1000000 --folder " +
                              folder / "study";
  const std::string run = folder / "study/sync/seed-1";
  const auto stop_behind = [&](const std::string& options, long step) {
    Launched launched(command + options, folder / "out");
    const std::string later = "\"step\":" + std::to_string(step);
    ASSERT_TRUE(launched.wait_until([&] { return text_of(run + "/metrics.jsonl").find(later) != std::string::npos; }))
        << launched.outcome(0);
    launched.send(SIGTERM);
    const Outcome outcome = launched.outcome(120);
    EXPECT_EQ(outcome.code, 130) << outcome;
    EXPECT_SHOWS(outcome, "0 of 2 runs have ended, and the same command with --resume continues");
    EXPECT_TRUE(launched.wait_until([&] { return launched.marked().empty(); })) << "ranks were left behind";
  };
  stop_behind("", 3);
  ASSERT_FALSE(fs::is_empty(run + "/checkpoints"));
  long reached = 0;
  std::ifstream metrics(run + "/metrics.jsonl");
  for (std::string line; std::getline(metrics, line);)
    if (line.find("\"kind\":\"step\"") != std::string::npos) ++reached;
  ASSERT_GE(reached, 3);
  stop_behind(" --resume", reached + 1);
  EXPECT_NE(text_of(run + "/history.jsonl").find("resumed"), std::string::npos);
}

TEST(Compare, WrongCallsAreRefusedBeforeAnyRun) {
  const TemporaryFolder folder;
  const std::string call = "compare " + small_recipe(folder) + " --ranks 2 --folder " + folder / "study ";
  expect_wrong_call(call + "--strategies 'sync; stle(bound=3)'", "did you mean 'stale'");
  expect_wrong_call(call + "--strategies 'sync; sync'", "names 'sync' twice");
  expect_wrong_call(call + "--strategies ';'", "names none");
  expect_wrong_call(call + "--strategies sync --target accuracy", "--target 'accuracy': write a metric");
  expect_wrong_call(call + "--strategies sync --target 'acuracy>=0.5'", "the recipe does not evaluate 'acuracy'");
  expect_wrong_call(call + "--strategies 'sync; async(servers=2)'", "needs 2 ranks to keep the parameters");
  expect_wrong_call(call + "--strategies sync --slow 2:3", "there is no rank 2");
  expect_wrong_call(call + "--strategies sync --slow 1", "write a rank and how many times slower");
  EXPECT_FALSE(fs::exists(folder / "study"));
}

}  // namespace
