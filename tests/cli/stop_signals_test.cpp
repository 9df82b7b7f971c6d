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
  // Each step lasts longer than this test.
  const std::string path = folder_ / "slow.toml";
  std::ofstream(path) << "model = \"cosmoflow(size=128, width=32, layers=5)\"\noptimizer = \"sgd(lr=0.01)\"\n[data]\n"
                         "train = \"noise(shape=[128, 128, 128, 4], targets=4, count=64)\"\nbatch = 64\n"
                         "[train]\nepochs = 100\n";
  Launched launched(fmt::format("{} train {} --threads 1 --set folder={}", ISOBAR_PROGRAM, path, folder_ / "run"),
                    folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return fs::exists(folder_ / "run/run.json"); })) << launched.outcome(0);
  launched.send(SIGTERM);
  ASSERT_TRUE(launched.wait_until([&] { return launched.outcome(0).has("the run stops within one step"); }));
  launched.send(SIGTERM);
  EXPECT_EQ(launched.outcome(30).code, 128 + SIGTERM);
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
