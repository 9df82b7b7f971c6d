// A fault of one rank must end all ranks within seconds, with a message that names the rank and the cause, under both
// launchers. Where the moment matters, the rank is stopped first, and its files show that it is where the test says.
#include <map>

#include <fmt/format.h>

#include "isobar/checkpoint/checkpoint.hpp"

#include "tests/cli/launched.hpp"
#include "tests/small_disk.hpp"

namespace {

using isobar::tests::with_own_mounts;

constexpr double soon = 30;  // seconds in which all ranks must have ended, also on a busy machine

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// For a rank that is stopped until it is at the right place, which a busy disk can delay.
constexpr const char* patient = "--set strategy.stall_seconds=60";

// Of a run that would take hours.
std::string endless_recipe(const TemporaryFolder& folder, const std::string& data = "") {
  const std::string path = folder / "recipe.toml";
  std::ofstream(path) << "model = \"cosmoflow(size=32, width=4, layers=2, dropout=0)\"\n"
                         "strategy = \"sync(stall_seconds=8, warn_seconds=1)\"\n[data]\n"
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

  // Every file with the name of a checkpoint is whole; unfinished ones do not count, and the run continues from the
  // newest.
  void expect_whole_checkpoints(const std::string& recipe) const {
    std::int64_t epoch = 0;
    for (const auto& entry : fs::directory_iterator(folder_ / "run/checkpoints")) {
      if (entry.path().extension() != ".h5") continue;
      const isobar::checkpoint::CheckpointFile file(entry.path());
      EXPECT_NO_THROW(file.verify()) << entry.path();
      epoch = std::max(epoch, file.read().position.epoch);
    }
    EXPECT_GT(epoch, 0) << "there is a checkpoint";
    const Outcome resumed =
        run_isobar(fmt::format("train {} --threads 1 --quiet --resume --set folder={} "
                               "--set train.epochs={}",
                               recipe, folder_ / "run", epoch + 1));
    EXPECT_EQ(resumed.code, 0) << resumed;
    EXPECT_FALSE(has_checkpoint(".part")) << "what was not finished is removed";
  }

  // A run that stages its files first.
  std::string staged_recipe() const {
    const Outcome made = run_isobar("data make universe --out " + folder_ / "set" + " --train 24 --test 1 --mesh 32");
    EXPECT_EQ(made.code, 0) << made;
    return endless_recipe(folder_, "train = \"hdf5(layout=cosmoflow, path=" + folder_ / "set" +
                                       "/train)\"\nstaging = \"files(to=" + folder_ / "staged" + ")\"\n");
  }
  // Staging is in progress: some files exist under the name of an unfinished stage, and none under that of a whole one.
  bool stages() const {
    bool partial = false;
    std::error_code none_yet;
    for (const auto& entry : fs::directory_iterator(folder_ / "staged", none_yet)) {
      if (entry.path().extension().empty()) return false;
      if (entry.path().extension() == ".partial") partial = fs::exists(entry.path() / "files", none_yet);
    }
    return partial;
  }
  // Launches a run of which a rank stops in the middle of staging.
  std::unique_ptr<Launched> stopped_in_staging(int ranks, int rank, const std::string& recipe,
                                               const std::string& more = "") const {
    auto launched = std::make_unique<Launched>(
        fmt::format("env LD_PRELOAD={} ISOBAR_TEST_STOP_RANK={} ISOBAR_TEST_STOP_FILE=.partial/files {}",
                    ISOBAR_STOP_AT_FILE, rank, command(ranks, recipe, more)),
        folder_ / "out");
    EXPECT_TRUE(launched->wait_until([&] { return launched->stands_still(rank); })) << launched->outcome(0);
    EXPECT_TRUE(stages());
    return launched;
  }
  // A stage with the name of a whole one is whole, byte for byte.
  void expect_whole_stage(bool there) const {
    std::map<std::string, fs::path> originals;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / "set/train"))
      if (entry.is_regular_file()) originals[entry.path().filename()] = entry.path();
    std::size_t stages = 0;
    for (const auto& stage : fs::directory_iterator(folder_ / "staged")) {
      if (!stage.path().extension().empty()) continue;
      ++stages;
      std::size_t files = 0;
      for (const auto& entry : fs::recursive_directory_iterator(stage.path() / "files")) {
        if (!entry.is_regular_file()) continue;
        ++files;
        EXPECT_TRUE(bytes_of(entry.path()) == bytes_of(originals.at(entry.path().filename()))) << entry.path();
      }
      EXPECT_EQ(files, originals.size());
    }
    EXPECT_EQ(stages, there ? 1u : 0u);
  }
  // The fault left no stage that looks whole, and the same run stages everything when it is started again.
  void expect_staging_recovers(int ranks, const std::string& recipe) {
    expect_whole_stage(false);
    fs::remove_all(folder_ / "run");
    Launched again(command(ranks, recipe, "--set train.epochs=1"), folder_ / "again");
    const Outcome outcome = again.outcome(120);
    EXPECT_EQ(outcome.code, 0) << outcome;
    expect_whole_stage(true);
    EXPECT_FALSE(stages());
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
  const std::string recipe = endless_recipe(folder_);
  Launched launched(command(2, recipe, patient), folder_ / "out");
  // The temporary name of a checkpoint that is being written; another checkpoint comes before it.
  const pid_t victim = launched.stopped_when(0, [&] { return checkpoint_written() && has_checkpoint(".part"); });
  ASSERT_GT(victim, 0) << launched.outcome(0);
  kill(victim, SIGKILL);
  expect_end(launched, {"rank 0"});
  EXPECT_TRUE(has_checkpoint(".part")) << "it died in the middle";
  expect_whole_checkpoints(recipe);
}

TEST_P(Faults, ARankKilledDuringStaging) {
  const std::string recipe = staged_recipe();
  const auto launched = stopped_in_staging(2, 1, recipe, patient);
  const pid_t victim = launched->rank(1);
  ASSERT_GT(victim, 0) << launched->outcome(0);
  kill(victim, SIGKILL);
  expect_end(*launched, {"rank 1"});
  expect_staging_recovers(2, recipe);
}

TEST_P(Faults, ARankThatStandsStill) {
  Launched launched(command(2, endless_recipe(folder_)), folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return checkpoint_written(); })) << launched.outcome(0);
  Launched::send_to(launched.rank(1), SIGSTOP);
  // The other rank waits for a sum with it, or for its message that a step is done.
  expect_end(launched, {"rank 1"}, 8 + soon);
  const Outcome outcome = launched.outcome(0);
  EXPECT_TRUE(outcome.has(" waits ") || outcome.has("has not answered for ")) << outcome;
}

// No gradients are exchanged yet; the other waits for its files. With a third rank, one that waits for a core could be
// taken for it.
TEST_P(Faults, ARankThatStandsStillDuringStaging) {
  const std::string recipe = staged_recipe();
  const auto launched = stopped_in_staging(2, 1, recipe);
  expect_end(*launched, {"rank 1"}, 8 + soon);
  expect_staging_recovers(2, recipe);
}

// Training continues; only the missing last checkpoint makes the run fail in the end.
TEST_P(Faults, ADiskThatIsFullEndsNoRank) {
  if (with_own_mounts().empty()) GTEST_SKIP() << "no small disk can be mounted here";
  const std::string disk = folder_ / "disk";
  fs::create_directories(disk);
  const std::string inner = command(2, endless_recipe(folder_), "--set folder=" + disk + "/run");
  Launched launched(with_own_mounts() + "sh -c 'mount -t tmpfs -o size=300k none " + disk + " && exec " + inner + "'",
                    folder_ / "out");
  ASSERT_TRUE(launched.wait_until([&] { return launched.outcome(0).has("No space left"); })) << launched.outcome(0);
  Launched::send_to(launched.rank(0), SIGTERM);
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
