// A run that is asked to stop: it says so at once, writes a checkpoint, and can be resumed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/cli/launched.hpp"

namespace {

class StoppedRuns : public testing::Test {
 protected:
  std::string command(const std::string& more) const {
    return fmt::format("{} train {} --threads 1 --set folder={} {}", ISOBAR_PROGRAM, small_recipe(folder_),
                       folder_ / "run", more);
  }
  // Waits until the run has done steps.
  bool begun(Launched& launched) const {
    return launched.wait_until([&] {
      std::error_code ignored;
      return fs::file_size(folder_ / "run/metrics.jsonl", ignored) > 1000 && !ignored;
    });
  }

  TemporaryFolder folder_;
};

class StopSignals : public StoppedRuns, public testing::WithParamInterface<int> {};

TEST_P(StopSignals, EndItWithACheckpointAndAStatusThatSaysSo) {
  Launched launched(command("--set train.epochs=1000000"), folder_ / "out");
  ASSERT_TRUE(begun(launched)) << launched.outcome(0);
  launched.send(GetParam());
  const Outcome outcome = launched.outcome(60);
  EXPECT_EQ(outcome.code, 130) << outcome;
  EXPECT_SHOWS(outcome, "the run stops within one step and one checkpoint, and can be resumed; a second signal ends");
  EXPECT_SHOWS(outcome, "isobar: stopped; the same command with --resume continues");
  EXPECT_LT(outcome.text.find("the run stops within"), outcome.text.find("isobar: stopped;"));
  const Outcome resumed =
      run_isobar(command("--resume --quiet --set train.epochs=2").substr(std::string(ISOBAR_PROGRAM).size()));
  EXPECT_EQ(resumed.code, 0) << resumed;
}

INSTANTIATE_TEST_SUITE_P(Signals, StopSignals, testing::Values(SIGINT, SIGTERM, SIGUSR1),
                         [](const auto& signal) { return fmt::format("signal{}", signal.param); });

// For a disk that hangs or a long step: a second signal ends the run at once.
TEST_F(StoppedRuns, ASecondOneEndsAtOnce) {
  // The other rank stands still, so that the step under way cannot end.
  const LaunchKind mpich = launch_kinds()[0];
  Launched launched(
      mpich.words + " 2 " + command("--set train.epochs=1000000 --set 'strategy=sync(stall_seconds=1000)'"),
      folder_ / "out");
  ASSERT_TRUE(begun(launched)) << launched.outcome(0);
  ASSERT_GT(launched.stopped_when(1, [] { return true; }), 0) << launched.outcome(0);
  const pid_t working = launched.rank(0);
  ASSERT_GT(working, 0);
  kill(working, SIGTERM);
  ASSERT_TRUE(launched.wait_until([&] { return launched.outcome(0).has("the run stops within one step"); }));
  kill(working, SIGTERM);
  const Outcome outcome = launched.outcome(30);
  EXPECT_NE(outcome.code, -1) << "still running\n" << outcome;
  EXPECT_NE(outcome.code, 0) << outcome;
  EXPECT_FALSE(outcome.has("isobar: stopped;")) << outcome;
}

// A launcher that starts a program with SIGUSR1 ignored uses the signal for something else.
TEST_F(StoppedRuns, ASignalThatWasIgnoredStaysIgnored) {
  Launched launched("sh -c 'trap \"\" USR1; exec " + command("--set train.epochs=1000000 --quiet") + "'",
                    folder_ / "out");
  ASSERT_TRUE(begun(launched)) << launched.outcome(0);
  launched.send(SIGUSR1);
  launched.send(SIGTERM);  // would be the second signal and end it at once if the first had been caught
  EXPECT_EQ(launched.outcome(60).code, 130);
}

}  // namespace
