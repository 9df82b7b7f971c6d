// isobar run with ranks that are killed, frozen or orphaned: the others finish the run, every step is recorded once,
// and a deterministic run ends with the same bits as one without deaths. No run here ends before its test ends it.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

using Json = nlohmann::json;

constexpr std::int64_t steps_per_epoch = 20;

// It would take hours: whatever must happen during such a run does, however fast the machine and late the test.
std::string supervised_recipe(const TemporaryFolder& folder, int test_samples = 8) {
  const std::string path = folder / "recipe.toml";
  std::ofstream(path)
      << "model = \"cosmoflow(size=8, width=4, layers=2, dropout=0)\"\noptimizer = \"sgd(lr=0.01)\"\n[data]\n"
         "train = \"noise(shape=[8, 8, 8, 4], targets=4, count=160)\"\n"
      << fmt::format("test = \"noise(shape=[8, 8, 8, 4], targets=4, count={}, seed=9)\"\n", test_samples)
      << "batch = 8\n[report]\npage = false\npictures = false\ntensorboard = false\n"
         "[train]\nepochs = 1000000\n";
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

std::int64_t lines_of(const std::string& kind, const fs::path& file) {
  std::int64_t count = 0;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) count += line.find("\"kind\":\"" + kind + "\"") != std::string::npos;
  return count;
}

/// A supervised run in the background, which goes on until it is stopped.
class Supervised {
 public:
  Supervised(const LaunchKind& kind, const std::string& options, const std::string& settings = "", int test_samples = 8)
      : run(folder_ / "run"),
        command_(fmt::format("{} run {} --log {} -- train {} --quiet --threads 1 --set 'folder=\"{}\"' {}",
                             kind.program, options, folder_ / "log", supervised_recipe(folder_, test_samples),
                             run.string(), settings)),
        launched(command_, folder_ / "out") {}

  std::int64_t steps() const { return lines_of("step", run / "metrics.jsonl"); }
  bool wait_for_steps(std::int64_t count) {
    return launched.wait_until([&] { return steps() >= count; });
  }
  // Waits for a line of the launcher's log.
  bool wait_for(const std::string& event, int count = 1) {
    return launched.wait_until([&] { return events(event) >= count; });
  }
  void kill_rank(int rank, int signal = SIGKILL) const { Launched::send_to(launched.rank(rank), signal); }
  // Some steps later it is stopped, as a user would do it, and says what has happened to it until then.
  Outcome stopped() {
    const std::int64_t before = steps();
    EXPECT_TRUE(wait_for_steps(before + steps_per_epoch)) << launched.outcome(0);
    launched.send(SIGTERM);
    const Outcome outcome = launched.outcome(120);
    EXPECT_EQ(outcome.code, 130) << outcome << log();
    EXPECT_TRUE(launched.marked().empty()) << "processes were left behind";
    EXPECT_EQ(lines_of("end", run / "metrics.jsonl"), 1);
    return outcome;
  }
  // A stopped run is finished with the epoch under way: all its steps are recorded once. Returns how many epochs it has.
  std::int64_t finished() {
    const std::int64_t epochs = steps() / steps_per_epoch + 1;
    Launched again(fmt::format("{} --resume --set train.epochs={}", command_, epochs), folder_ / "again");
    const Outcome outcome = again.outcome(120);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(std::ssize(losses_in(run)), epochs * steps_per_epoch);
    EXPECT_EQ(lines_of("epoch", run / "metrics.jsonl"), epochs);
    return epochs;
  }
  // How many lines of the launcher's log report an event.
  int events(const std::string& name) const {
    int count = 0;
    std::ifstream in(folder_ / "log");
    for (std::string line; std::getline(in, line);) {
      const Json object = Json::parse(line, nullptr, false);  // the last line may be half written
      count += object.is_object() && object.value("event", "") == name;
    }
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

 private:
  const std::string command_;

 public:
  Launched launched;
};

class SupervisedUnder : public testing::TestWithParam<LaunchKind> {};

TEST_P(SupervisedUnder, ADeterministicRunThatLosesRankZeroEndsWithTheSameBits) {
  const std::string settings = "--set train.deterministic=true";
  Supervised supervised(GetParam(), "-n 2 --spares 1", settings);
  ASSERT_TRUE(supervised.wait_for_steps(20)) << supervised.launched.outcome(0);
  supervised.kill_rank(0);
  ASSERT_TRUE(supervised.wait_for("recovered")) << supervised.log() << supervised.launched.outcome(0);
  const Outcome outcome = supervised.stopped();
  EXPECT_SHOWS(outcome, "rank 0 (pid ");
  EXPECT_SHOWS(outcome, "died of signal 9");
  EXPECT_SHOWS(outcome, "rank 2 takes its place");
  EXPECT_EQ(supervised.events("recovered"), 1) << supervised.log() << outcome;
  std::ifstream in(supervised.run / "run.json");
  const Json changes = Json::parse(in).at("members_changed");
  ASSERT_EQ(changes.size(), 1u) << changes;
  EXPECT_EQ(changes[0].at("left"), std::vector{0});
  EXPECT_EQ(changes[0].at("joined"), std::vector{2});

  const std::int64_t epochs = supervised.finished();
  TemporaryFolder alone;
  const Outcome whole =
      run_isobar(fmt::format("train {} --quiet --threads 1 --set 'folder=\"{}\"' --set train.epochs={} {}",
                             supervised_recipe(alone), alone / "run", epochs, settings));
  ASSERT_EQ(whole.code, 0) << whole;
  EXPECT_EQ(losses_in(supervised.run), losses_in(alone / "run"));
}

TEST_P(SupervisedUnder, TwoThatDieAtOnceLeaveTheOthersAtWork) {
  Supervised supervised(GetParam(), "-n 4");
  ASSERT_TRUE(supervised.wait_for_steps(10)) << supervised.launched.outcome(0);
  supervised.kill_rank(1);
  supervised.kill_rank(2);
  ASSERT_TRUE(supervised.wait_for("recovered", 2)) << supervised.log() << supervised.launched.outcome(0);
  supervised.stopped();
  EXPECT_EQ(supervised.events("death"), 2) << supervised.log();
  EXPECT_EQ(supervised.events("launch"), 1) << supervised.log();
  supervised.finished();
}

TEST_P(SupervisedUnder, ADeathBetweenCheckpointsAndEvaluationsLosesNothing) {
  Supervised supervised(GetParam(), "-n 2", "--set checkpoint.every_steps=1", 1600);
  // All steps of the first epoch are done: its evaluation is in progress or, on a busy machine, a later one.
  ASSERT_TRUE(supervised.wait_for_steps(steps_per_epoch)) << supervised.launched.outcome(0);
  supervised.kill_rank(0);
  ASSERT_TRUE(supervised.wait_for("recovered")) << supervised.log() << supervised.launched.outcome(0);
  supervised.stopped();
  supervised.finished();
  const Outcome evaluated = run_isobar("eval " + supervised.run.string());
  EXPECT_EQ(evaluated.code, 0) << evaluated;
}

TEST_P(SupervisedUnder, WhenTheLauncherIsKilledTheRanksEndAndTheRunCanBeResumed) {
  Supervised supervised(GetParam(), "-n 2");
  ASSERT_TRUE(supervised.wait_for_steps(10)) << supervised.launched.outcome(0);
  supervised.launched.send(SIGKILL);
  EXPECT_EQ(supervised.launched.outcome(10).code, 128 + SIGKILL);
  bool left = true;
  for (int i = 0; left && i < 600; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    left = !supervised.launched.marked().empty();
  }
  EXPECT_FALSE(left) << "after a minute";
  supervised.finished();
}

INSTANTIATE_TEST_SUITE_P(Launchers, SupervisedUnder, testing::ValuesIn(launch_kinds()),
                         [](const auto& tested) { return tested.param.name; });

TEST(Supervised, AFrozenRankIsDropped) {
  Supervised supervised(launch_kinds()[0], "-n 3 --freeze 4");
  ASSERT_TRUE(supervised.wait_for_steps(10)) << supervised.launched.outcome(0);
  supervised.kill_rank(1, SIGSTOP);
  ASSERT_TRUE(supervised.wait_for("recovered")) << supervised.log() << supervised.launched.outcome(0);
  EXPECT_SHOWS(supervised.stopped(), "silence for 4 s");
  supervised.finished();
}

TEST(Supervised, AStrategyThatCannotGoOnIsStartedAnewFromTheCheckpoint) {
  Supervised supervised(launch_kinds()[0], "-n 2", "--set 'strategy=lagged(k=1)' --set checkpoint.every_steps=20");
  ASSERT_TRUE(supervised.wait_for_steps(60)) << supervised.launched.outcome(0);
  supervised.kill_rank(1);
  ASSERT_TRUE(supervised.wait_for("go", 2)) << supervised.log() << supervised.launched.outcome(0);
  supervised.stopped();
  EXPECT_EQ(supervised.events("launch"), 2) << supervised.log();
  supervised.finished();
}

}  // namespace
