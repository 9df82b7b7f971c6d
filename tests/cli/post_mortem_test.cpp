// Ranks that crash on purpose, alone and among others: what they leave in the run folder.
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/capture.hpp"
#include "tests/cli/launched.hpp"

namespace {

using isobar::tests::text_of;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class PostMortems : public testing::Test {
 protected:
  // A run that would take hours.
  std::string train(const std::string& more = "") const {
    return fmt::format(" train {} --quiet --threads 1 --set folder={} --set train.epochs=1000000 {}",
                       small_recipe(folder_), run(), more);
  }
  std::string run() const { return folder_ / "run"; }
  std::string report(int rank) const { return text_of(run() + fmt::format("/post_mortem/rank{}.txt", rank)); }
  bool has_steps() const { return has(text_of(run() + "/metrics.jsonl"), "\"step\":5,"); }

  TemporaryFolder folder_;
};

TEST_F(PostMortems, ACrashTellsSignalLastStepsAndStack) {
  for (const auto& [signal, name] : {std::pair(SIGSEGV, "SIGSEGV"), std::pair(SIGABRT, "SIGABRT")}) {
    Launched launched(ISOBAR_PROGRAM + train("--overwrite"), folder_ / "out");
    ASSERT_TRUE(launched.wait_until([&] { return has_steps(); })) << launched.outcome(0);
    launched.send(signal);
    const Outcome outcome = launched.outcome(30);
    EXPECT_EQ(outcome.code, 128 + signal) << outcome;
    EXPECT_SHOWS(outcome, fmt::format("[rank 0] died of signal {} ({}", signal, name));
    EXPECT_SHOWS(outcome, "post_mortem/rank0.txt");
    const std::string text = report(0);
    EXPECT_TRUE(text.starts_with("post-mortem of rank 0, told by the rank itself, ")) << text;
    EXPECT_TRUE(std::regex_search(text, std::regex("step [0-9]+ done in [0-9.]+ s, loss"))) << text;
    EXPECT_TRUE(has(text, "sums over ranks under way\n  none\n")) << text;
    EXPECT_TRUE(std::regex_search(text, std::regex("stack.*\n.*isobar.*\\[0x[0-9a-f]+\\]"))) << text;
    fs::remove_all(run());
  }
}

TEST_F(PostMortems, AmongRanksTheOneThatCrashedLeavesItsReport) {
  const LaunchKind mpich = launch_kinds()[0];
  Launched launched(mpich.words + " 2 " + mpich.program + train(), folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return has_steps() && launched.rank(1) > 0; })) << launched.outcome(0);
  Launched::send_to(launched.rank(1), SIGSEGV);
  const Outcome outcome = launched.outcome(30);
  EXPECT_NE(outcome.code, -1) << "still running\n" << outcome;
  EXPECT_NE(outcome.code, 0) << outcome;
  EXPECT_SHOWS(outcome, "rank 1");
  const std::string text = report(1);
  EXPECT_TRUE(has(text, "post-mortem of rank 1")) << text;
  EXPECT_TRUE(has(text, "died of signal 11 (SIGSEGV, segmentation fault), sent by process")) << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("step [0-9]+: (computing|gradients|loss)"))) << text;
  EXPECT_FALSE(fs::exists(run() + "/post_mortem/rank0.txt")) << "it only heard of it";
}

// A learning rate that makes numbers infinite ends the rank by an error.
TEST_F(PostMortems, AnErrorThatEndsARankIsToldThereToo) {
  const Outcome outcome = run_isobar(train("--set optimizer.lr=1e30"));
  EXPECT_EQ(outcome.code, 1) << outcome;
  const std::string text = report(0);
  EXPECT_TRUE(has(text, "cause:    step 2 (epoch 1): the loss is")) << text;
  EXPECT_TRUE(has(text, "what it did last\n")) << text;
}

TEST_F(PostMortems, AWrongCallLeavesNone) {
  ASSERT_EQ(run_isobar(train("--set train.epochs=1")).code, 0);
  const Outcome again = run_isobar(train());
  EXPECT_EQ(again.code, 1) << again;
  EXPECT_FALSE(fs::exists(run() + "/post_mortem"));
}

}  // namespace
