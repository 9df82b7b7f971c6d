#include "isobar/run/contest.hpp"

#include <gtest/gtest.h>

#include "isobar/run/contest_progress.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::run {
namespace {

using tests::error_of;
using tests::TemporaryFolder;
using Found = StrategyContest::Found;

TEST(Contest, MakesNamesOfFolders) {
  EXPECT_EQ(folder_name("sync"), "sync");
  EXPECT_EQ(folder_name("stale(bound=3)"), "stale-bound-3");
  EXPECT_EQ(folder_name("local(steps=8, outer=sgd(lr=0.7))"), "local-steps-8-outer-sgd-lr-0.7");
}

TEST(Contest, FindsTheLastMessageOfARun) {
  const TemporaryFolder folder;
  const std::string output = folder / "seed-1.txt";
  std::ofstream(output)
      << "a line\nisobar: continues from x\nisobar: [rank 3] the loss is not finite\nBAD TERMINATION\n";
  EXPECT_EQ(failure_in(output, 1), "[rank 3] the loss is not finite");
  std::ofstream(output) << "nothing\n";
  EXPECT_EQ(failure_in(output, 9), "ended with code 9; its output is in seed-1.txt");
}

ContestSetting three_by_two(const TemporaryFolder& folder) {
  ContestSetting setting;
  setting.strategies = {"sync", "a(b=1)", "a(b,1)"};
  setting.seeds = {5, 6};
  setting.folder = folder / "contest";
  setting.sameness = "ranks = 4";
  return setting;
}

TEST(Contest, RunsTakeTurns) {
  const TemporaryFolder folder;
  const StrategyContest contest(three_by_two(folder), Found::refuse);
  std::vector<std::string> order;
  for (const report::StudyRun& run : contest.runs())
    order.push_back(run.folder.lexically_relative(folder / "contest").string());
  EXPECT_EQ(order, (std::vector<std::string>{"sync/seed-5", "a-b-1/seed-5", "a-b-1-2/seed-5", "a-b-1/seed-6",
                                             "a-b-1-2/seed-6", "sync/seed-6"}));
  EXPECT_EQ(contest.done(), 0u);
}

TEST(Contest, GoesOnOnlyWithWhatWasBegun) {
  const TemporaryFolder folder;
  ContestSetting setting = three_by_two(folder);
  EXPECT_HAS(error_of([&] { StrategyContest(setting, Found::resume); }), "holds no comparison that could be resumed");
  StrategyContest(setting, Found::refuse);
  EXPECT_HAS(error_of([&] { StrategyContest(setting, Found::refuse); }), "--resume continues it");
  setting.strategies.push_back("local");
  setting.seeds.push_back(7);
  EXPECT_EQ(StrategyContest(setting, Found::resume).runs().size(), 12u);
  setting.sameness = "ranks = 2";
  EXPECT_HAS(error_of([&] { StrategyContest(setting, Found::resume); }), "was begun with another recipe");
  EXPECT_EQ(StrategyContest(setting, Found::overwrite).runs().size(), 12u);
}

// What a run leaves that has failed is kept, until its folder is removed.
TEST(Contest, KeepsFailures) {
  const TemporaryFolder folder;
  const ContestSetting setting = three_by_two(folder);
  StrategyContest(setting, Found::refuse);
  const std::string file = folder / "contest/comparison.json";
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::string changed = text.str();
  const std::size_t at = changed.find(R"("failure": "")");
  ASSERT_NE(at, std::string::npos);
  changed.replace(at, 13, R"("failure": "x")");
  std::ofstream(file) << changed;
  EXPECT_EQ(StrategyContest(setting, Found::resume).done(), 0u);
  std::filesystem::create_directories(folder / "contest/sync/seed-5");
  std::ofstream(file) << changed;
  const StrategyContest kept(setting, Found::resume);
  EXPECT_EQ(kept.done(), 1u);
  EXPECT_EQ(kept.runs()[0].failure, "x");
}

// A run as a contest sees it: a recipe and how it ended.
void leave_run(const std::filesystem::path& run, const std::string& reason) {
  std::filesystem::create_directories(run);
  std::ofstream(run / "recipe.toml") << "model = \"lenet\"\n";
  std::ofstream(run / "metrics.jsonl") << R"({"kind":"end","step":2,"reason":")" << reason << R"(","test":{}})"
                                       << "\n";
}

TEST(Contest, StopsAndGoesOnAndKeepsWhatFailed) {
  const TemporaryFolder folder;
  const ContestSetting setting = three_by_two(folder);
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  const record::Screen screen{out, false, {}, [] { return 0.0; }};
  std::atomic<bool> stop = false;
  std::vector<std::string> started;
  int ended = 0;
  const auto start = [&](const ContestStart& begun) -> ContestEnd {
    started.push_back(fmt::format("{} {}{}", begun.run.strategy, begun.run.seed, begun.resumes ? " resumed" : ""));
    begun.meanwhile();
    if (started.size() == 1) return leave_run(begun.run.folder, "finished"), ContestEnd{0, false, 3e6};
    if (started.size() == 2) {
      std::ofstream(begun.output) << "isobar: the loss is not finite\n";
      return {1, false, 2e6};
    }
    if (started.size() == 3) {
      std::filesystem::create_directories(begun.run.folder / "checkpoints");
      std::ofstream(begun.run.folder / "checkpoints/step_000002.h5") << "state";
      leave_run(begun.run.folder, "interrupted");
      stop = true;
      return {130, true, 1e6};
    }
    return leave_run(begun.run.folder, "finished"), ContestEnd{0, false, 1e6};
  };
  StrategyContest contest(setting, Found::refuse);
  EXPECT_FALSE(contest.run(start, stop, screen, [&] { ++ended; }));
  EXPECT_EQ(started, (std::vector<std::string>{"sync 5", "a(b=1) 5", "a(b,1) 5"}));
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(contest.runs()[1].failure, "the loss is not finite");
  EXPECT_EQ(contest.runs()[2].failure, "");

  stop = false;
  // The folder of the run that failed is there, as after a run that began.
  std::filesystem::create_directories(contest.runs()[1].folder);
  StrategyContest resumed(setting, Found::resume);
  EXPECT_EQ(resumed.done(), 2u);
  EXPECT_TRUE(resumed.run(start, stop, screen, [&] { ++ended; }));
  EXPECT_EQ(started[3], "a(b,1) 5 resumed");
  EXPECT_EQ(started.size(), 7u);
  EXPECT_EQ(ended, 6);
  EXPECT_EQ(resumed.runs()[0].peak_bytes, 3e6);
  std::fclose(out);
}

TEST(ContestProgress, TellsWhereTheRunIs) {
  const TemporaryFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  double clock = 0;
  {
    ContestProgress progress({out, true, [] { return 200; }, [&] { return clock += 1; }});
    progress.begin({2, 6, 4, "stale(bound=3), seed 2"}, folder / "none");
    train::Start start;
    start.epochs = 2, start.steps_per_epoch = 10;
    progress.start(start);
    progress.step({.step = 5, .epoch = 1, .samples = 4, .loss = 0.25, .seconds = 0.5});
    progress.look();
    progress.close("finished");
  }
  std::fclose(out);
  std::stringstream text;
  text << std::ifstream(folder / "out").rdbuf();
  EXPECT_HAS(text.str(), "run 2 of 6: stale(bound=3), seed 2, epoch 1 of 2, loss 0.25, 8 samples/s");
  EXPECT_HAS(text.str(), "run 2 of 6: stale(bound=3), seed 2: finished, ");
}

}  // namespace
}  // namespace isobar::run
