// What happens to all ranks when something happens to one: every case must end all of them within seconds, with a
// message that names the rank and the cause, under both launchers.
#include "tests/cli/launched.hpp"

namespace {

constexpr double soon = 15;  // seconds in which all ranks must have ended

// A run that would go on for hours.
std::string endless_recipe(const TemporaryFolder& folder, const std::string& data = "") {
  const std::string path = folder / "recipe.toml";
  std::ofstream(path) << "model = \"cosmoflow(size=32, width=4, layers=2, dropout=0)\"\n"
                         "strategy = \"sync(stall_seconds=4, warn_seconds=1)\"\n[data]\n"
                      << (data.empty() ? "train = \"noise(shape=[32, 32, 32, 4], targets=4, count=64)\"\n" : data)
                      << "batch = 4\n[train]\nepochs = 1000000\n[checkpoint]\nevery_epochs = 1\n";
  return path;
}

class Faults : public testing::TestWithParam<LaunchKind> {
 protected:
  std::string command(int ranks, const std::string& recipe, const std::string& more = "") const {
    return GetParam().words + " " + std::to_string(ranks) + " " + GetParam().program + " train " + recipe +
           " --threads 1 --set folder=" + folder_ / "run" + " " + more;
  }
  bool has_checkpoint(const std::string& ending) const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_ / "run/checkpoints", ignored))
      if (entry.path().extension() == ending) return true;
    return false;
  }
  bool checkpoint_written() const { return has_checkpoint(".h5"); }

  // A run whose files are brought near first.
  std::string staged_recipe() const {
    const std::string set = folder_ / "set";
    const Outcome made = run_isobar("data make universe --out " + set + " --train 48 --test 1 --mesh 32");
    EXPECT_EQ(made.code, 0) << made;
    return endless_recipe(folder_, "train = \"hdf5(layout=cosmoflow, path=" + set +
                                       "/train)\"\nstaging = \"files(to=" + folder_ / "staged" + ")\"\n");
  }

  void expect_end(Launched& launched, const std::vector<std::string>& parts, double within = soon) {
    const Outcome outcome = launched.outcome(within);
    EXPECT_NE(outcome.code, -1) << "still running after " << within << " s\n" << outcome;
    EXPECT_NE(outcome.code, 0) << outcome;
    for (const std::string& part : parts) EXPECT_SHOWS(outcome, part);
    for (int i = 0; i < 100 && !launched.marked().empty(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(launched.marked().empty()) << "processes were left behind\n" << outcome;
  }

  TemporaryFolder folder_;
};

TEST_P(Faults, ARankKilledDuringTraining) {
  Launched launched(command(3, endless_recipe(folder_)), folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return checkpoint_written(); })) << launched.outcome(0);
  const pid_t victim = launched.rank(1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  expect_end(launched, {"rank 1"});
}

TEST_P(Faults, ARankKilledDuringACheckpoint) {
  Launched launched(command(2, endless_recipe(folder_)), folder_ / "out");
  // The temporary name under which a checkpoint is written.
  ASSERT_TRUE(launched.wait_until([&] { return has_checkpoint(".part"); })) << launched.outcome(0);
  kill(launched.rank(0), SIGKILL);
  expect_end(launched, {"rank 0"});
}

TEST_P(Faults, ARankKilledDuringStaging) {
  Launched launched(command(2, staged_recipe()), folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return launched.rank(1) > 0 && fs::exists(folder_ / "staged"); }))
      << launched.outcome(0);
  kill(launched.rank(1), SIGKILL);
  expect_end(launched, {"rank 1"});
}

TEST_P(Faults, ARankThatStandsStill) {
  Launched launched(command(2, endless_recipe(folder_)), folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return checkpoint_written(); })) << launched.outcome(0);
  kill(launched.rank(1), SIGSTOP);
  expect_end(launched, {"rank 1", "gradients"}, 4 + soon);
}

// Nobody exchanges gradients yet; the others wait for its files.
TEST_P(Faults, ARankThatStandsStillDuringStaging) {
  Launched launched(command(3, staged_recipe()), folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return launched.rank(2) > 0 && fs::exists(folder_ / "staged"); }))
      << launched.outcome(0);
  kill(launched.rank(2), SIGSTOP);
  expect_end(launched, {"rank 2"}, 10 + soon);
}

// Training goes on; that there is no last checkpoint is the one thing that counts in the end.
TEST_P(Faults, ADiskThatIsFullEndsNoRank) {
  if (geteuid() != 0) GTEST_SKIP() << "mounting a small disk needs root";
  const std::string disk = folder_ / "disk";
  fs::create_directories(disk);
  const std::string inner = command(2, endless_recipe(folder_), "--set folder=" + disk + "/run");
  Launched launched("unshare -m sh -c 'mount -t tmpfs -o size=300k none " + disk + " && exec " + inner + "'",
                    folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return launched.outcome(0).has("No space left"); })) << launched.outcome(0);
  kill(launched.rank(0), SIGTERM);
  expect_end(launched, {"the run goes on, and tries again", "the last checkpoint could not be written"}, 60);
  const std::string text = launched.outcome(0).text;
  EXPECT_EQ(text.find("tries again"), text.rfind("tries again")) << "one warning for all ranks and files\n" << text;
}

TEST_P(Faults, AnotherRecipeOnOneRank) {
  const std::string recipe = endless_recipe(folder_);
  const std::string tail = " train " + recipe + " --threads 1 --set folder=" + folder_ / "run";
  Launched launched(GetParam().words + " 1 " + GetParam().program + tail + " : -n 1 " + GetParam().program + tail +
                        " --set model.width=8",
                    folder_ / "out");
  expect_end(launched, {"rank 1", "width"}, 60);
}

TEST_P(Faults, AMistakeInTheRecipeIsToldOnce) {
  Launched launched(command(3, endless_recipe(folder_), "--set optimizer=adamm"), folder_ / "out");
  const Outcome outcome = launched.outcome(soon);
  EXPECT_EQ(outcome.code, 2) << outcome;
  const std::size_t first = outcome.text.find("unknown optimizer");
  ASSERT_NE(first, std::string::npos) << outcome;
  EXPECT_EQ(outcome.text.find("unknown optimizer", first + 1), std::string::npos) << "told once, not by every rank\n"
                                                                                  << outcome;
}

INSTANTIATE_TEST_SUITE_P(Launchers, Faults, testing::ValuesIn(launch_kinds()),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace
