// isobar run with ranks that are killed, frozen or orphaned: the others finish the run, every step is recorded once,
// and a deterministic run ends with the same bits as one without deaths.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

using Json = nlohmann::json;

// 20 steps per epoch, of a few milliseconds each. Lines are on disk within a second: a run in which something must
// happen after the first line has to be longer than that, even on a fast machine.
std::string recipe_in(const TemporaryFolder& folder, int epochs, int test_samples = 8) {
  const std::string path = folder / "recipe.toml";
  std::ofstream(path)
      << "model = \"cosmoflow(size=8, width=4, layers=2, dropout=0)\"\noptimizer = \"sgd(lr=0.01)\"\n[data]\n"
         "train = \"noise(shape=[8, 8, 8, 4], targets=4, count=160)\"\n"
      << fmt::format("test = \"noise(shape=[8, 8, 8, 4], targets=4, count={}, seed=9)\"\n", test_samples)
      << "batch = 8\n[report]\npage = false\npictures = false\ntensorboard = false\n"
      << fmt::format("[train]\nepochs = {}\n", epochs);
  return path;
}

// The losses of all steps, as written; reports steps that are repeated or out of order.
std::vector<std::string> losses_in(const fs::path& run) {
  std::vector<std::string> losses;
  std::ifstream in(run / "metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const Json object = Json::parse(line, nullptr, false);
    if (!object.is_object() || object.value("kind", "") != "step") continue;
    losses.push_back(object["loss"].dump());
    EXPECT_EQ(object["step"], losses.size()) << "every step once and in order";
  }
  return losses;
}

std::size_t lines_of(const std::string& kind, const fs::path& file) {
  std::size_t count = 0;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) count += line.find("\"kind\":\"" + kind + "\"") != std::string::npos;
  return count;
}

/// A supervised run in the background.
class Supervised {
 public:
  Supervised(const LaunchKind& kind, const std::string& options, int epochs, const std::string& settings = "",
             int test_samples = 8)
      : run(folder_ / "run"),
        launched(
            fmt::format("{} run {} --log {} -- train {} --quiet --threads 1 --set 'folder=\"{}\"' {}", kind.program,
                        options, folder_ / "log", recipe_in(folder_, epochs, test_samples), run.string(), settings),
            folder_ / "out") {}

  std::size_t steps() const { return lines_of("step", run / "metrics.jsonl"); }
  bool wait_for_steps(std::size_t count) {
    return launched.wait_until([&] { return steps() >= count; });
  }
  void kill_rank(int rank, int signal = SIGKILL) const {
    const pid_t process = launched.rank(rank);
    ASSERT_GT(process, 0) << "rank " << rank;
    kill(process, signal);
  }
  // It must succeed after `steps` steps, each recorded once.
  Outcome expect_finished(std::size_t steps) {
    const Outcome outcome = launched.outcome(240);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(losses_in(run).size(), steps);
    EXPECT_EQ(lines_of("end", run / "metrics.jsonl"), 1u);
    EXPECT_TRUE(launched.marked().empty()) << "processes were left behind";
    return outcome;
  }
  // How many lines of the launcher's log report an event.
  int events(const std::string& name) const {
    int count = 0;
    std::ifstream in(folder_ / "log");
    for (std::string line; std::getline(in, line);)
      count += Json::parse(line, nullptr, false).value("event", "") == name;
    return count;
  }
  std::string log() const {
    std::ifstream in(folder_ / "log");
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryFolder folder_;

 public:
  const fs::path run;
  Launched launched;
};

class SupervisedUnder : public testing::TestWithParam<LaunchKind> {};

TEST_P(SupervisedUnder, ADeterministicRunThatLosesRankZeroEndsWithTheSameBits) {
  const std::string settings = "--set train.deterministic=true";
  TemporaryFolder alone;
  const Outcome whole = run_isobar(fmt::format("train {} --quiet --threads 1 --set 'folder=\"{}\"' {}",
                                               recipe_in(alone, 600), alone / "run", settings));
  ASSERT_EQ(whole.code, 0) << whole;
  Supervised supervised(GetParam(), "-n 2 --spares 1", 600, settings);
  ASSERT_TRUE(supervised.wait_for_steps(20)) << supervised.launched.outcome(0);
  supervised.kill_rank(0);
  const Outcome outcome = supervised.expect_finished(12000);
  EXPECT_SHOWS(outcome, "rank 0 (pid ");
  EXPECT_SHOWS(outcome, "died of signal 9");
  EXPECT_SHOWS(outcome, "rank 2 takes its place");
  EXPECT_EQ(losses_in(supervised.run), losses_in(alone / "run"));
  EXPECT_EQ(supervised.events("recovered"), 1) << supervised.log() << outcome;
  std::ifstream in(supervised.run / "run.json");
  const Json changes = Json::parse(in).at("members_changed");
  ASSERT_EQ(changes.size(), 1u) << changes;
  EXPECT_EQ(changes[0].at("left"), std::vector{0});
  EXPECT_EQ(changes[0].at("joined"), std::vector{2});
}

TEST_P(SupervisedUnder, TwoThatDieAtOnceLeaveTheOthersAtWork) {
  Supervised supervised(GetParam(), "-n 4", 600);
  ASSERT_TRUE(supervised.wait_for_steps(10)) << supervised.launched.outcome(0);
  supervised.kill_rank(1);
  supervised.kill_rank(2);
  supervised.expect_finished(12000);
  EXPECT_EQ(supervised.events("death"), 2);
  EXPECT_EQ(supervised.events("launch"), 1);
}

TEST_P(SupervisedUnder, ADeathBetweenCheckpointsAndEvaluationsLosesNothing) {
  Supervised supervised(GetParam(), "-n 2", 8, "--set checkpoint.every_steps=1", 12000);
  // All steps of the first epoch are done: its evaluation is in progress or, on a busy machine, a later one.
  ASSERT_TRUE(supervised.wait_for_steps(20)) << supervised.launched.outcome(0);
  supervised.kill_rank(0);
  supervised.expect_finished(160);
  EXPECT_EQ(lines_of("epoch", supervised.run / "metrics.jsonl"), 8u);
  const Outcome evaluated = run_isobar("eval " + supervised.run.string());
  EXPECT_EQ(evaluated.code, 0) << evaluated;
}

TEST_P(SupervisedUnder, WhenTheLauncherIsKilledTheRanksEndAndTheRunCanBeResumed) {
  Supervised supervised(GetParam(), "-n 2", 20000);
  ASSERT_TRUE(supervised.wait_for_steps(10)) << supervised.launched.outcome(0);
  supervised.launched.send(SIGKILL);
  EXPECT_EQ(supervised.launched.outcome(10).code, 128 + SIGKILL);
  bool left = true;
  for (int i = 0; left && i < 600; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    left = !supervised.launched.marked().empty();
  }
  EXPECT_FALSE(left) << "after a minute";
  const std::int64_t epochs = static_cast<std::int64_t>(supervised.steps()) / 20 + 2;
  const Outcome resumed = run_isobar(fmt::format("train {} --resume --quiet --threads 1 --set train.epochs={}",
                                                 (supervised.run / "recipe.toml").string(), epochs));
  EXPECT_EQ(resumed.code, 0) << resumed;
  EXPECT_EQ(losses_in(supervised.run).size(), static_cast<std::size_t>(epochs) * 20);
}

INSTANTIATE_TEST_SUITE_P(Launchers, SupervisedUnder, testing::ValuesIn(launch_kinds()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Supervised, AFrozenRankIsDropped) {
  Supervised supervised(launch_kinds()[0], "-n 3 --freeze 4", 600);
  ASSERT_TRUE(supervised.wait_for_steps(10)) << supervised.launched.outcome(0);
  supervised.kill_rank(1, SIGSTOP);
  const Outcome outcome = supervised.expect_finished(12000);
  EXPECT_SHOWS(outcome, "silence for 4 s");
}

TEST(Supervised, AStrategyThatCannotGoOnIsStartedAnewFromTheCheckpoint) {
  Supervised supervised(launch_kinds()[0], "-n 2", 600, "--set 'strategy=lagged(k=1)' --set checkpoint.every_steps=20");
  ASSERT_TRUE(supervised.wait_for_steps(60)) << supervised.launched.outcome(0);
  supervised.kill_rank(1);
  supervised.expect_finished(12000);
  EXPECT_EQ(supervised.events("launch"), 2);
}

}  // namespace
