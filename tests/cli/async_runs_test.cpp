// isobar run with strategy async: a worker that dies or stands still is not missed; without a server all start again
// from the newest checkpoint. Runs would take hours: whatever must happen does, and then the test stops them.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/launched.hpp"

namespace {

using Json = nlohmann::json;

/// Three workers and a server.
class AsyncRun {
 public:
  explicit AsyncRun(const LaunchKind& kind, const std::string& options = "", const std::string& strategy = "async")
      : run_(folder_ / "run"),
        words_(fmt::format("train {} --quiet --threads 1 --set 'folder=\"{}\"' --set 'strategy={}' "
                           "--set checkpoint.every_steps=40 --set report.page=false --set report.pictures=false",
                           small_recipe(folder_), run_.string(), strategy)),
        launched(fmt::format("{} run -n 4 {} --log {} -- {} --set train.epochs=1000000", kind.program, options,
                             folder_ / "log", words_),
                 folder_ / "out") {}

  // Some steps of the first worker later.
  bool go_on() {
    const std::int64_t before = last_step();
    return launched.wait_until([&] { return last_step() >= before + 30; });
  }
  bool wait_for(const std::string& event) {
    return launched.wait_until([&] { return events(event) > 0; });
  }
  int events(const std::string& name) const {
    int count = 0;
    each_line(folder_ / "log", [&](const Json& line) { count += line.value("event", "") == name; });
    return count;
  }
  Outcome stopped() {
    launched.send(SIGTERM);
    const Outcome outcome = launched.outcome(120);
    EXPECT_EQ(outcome.code, 130) << outcome;
    EXPECT_TRUE(launched.marked().empty()) << "processes were left behind";
    return outcome;
  }
  // What each worker did, as the run tells at its end.
  std::string told() const {
    std::string text;
    each_line(run_ / "timing.jsonl", [&](const Json& line) {
      if (line.value("kind", "") == "end") text = line.value("exchanged", "");
    });
    return text;
  }
  // Continues it to the end of the epoch after the one under way, with another number of ranks.
  Outcome resumed(const LaunchKind& kind, int ranks) const {
    return run_command(fmt::format("{} {} {} {} --resume --set train.epochs={}", kind.words, ranks, kind.program,
                                   words_, last_step() / 5 + 2));
  }

 private:
  static void each_line(const fs::path& file, const std::function<void(const Json&)>& take) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
      if (const Json object = Json::parse(line, nullptr, false); object.is_object()) take(object);
  }
  std::int64_t last_step() const {
    std::int64_t last = 0;
    each_line(run_ / "metrics.jsonl", [&](const Json& line) {
      if (line.value("kind", "") == "step") last = line.value("step", std::int64_t{0});
    });
    return last;
  }

  TemporaryFolder folder_;
  const fs::path run_;
  const std::string words_;

 public:
  Launched launched;
};

class AsyncRunsUnder : public testing::TestWithParam<LaunchKind> {};

TEST_P(AsyncRunsUnder, AWorkerThatDiesIsNotMissed) {
  AsyncRun run(GetParam());
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  Launched::send_to(run.launched.rank(1), SIGKILL);
  ASSERT_TRUE(run.wait_for("death")) << run.launched.outcome(0);
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  const Outcome outcome = run.stopped();
  EXPECT_SHOWS(outcome, "no rank had to wait for it");
  EXPECT_EQ(run.events("go"), 1) << outcome;
  EXPECT_EQ(run.events("relaunch"), 0) << outcome;
  EXPECT_NE(run.told().find("until it died"), std::string::npos) << run.told();
  const Outcome resumed = run.resumed(GetParam(), 2);
  EXPECT_EQ(resumed.code, 0) << resumed;
}

// The clock of a dead worker does not hold others back.
TEST_P(AsyncRunsUnder, ADeadWorkerIsNotWaitedForWhereStalenessIsBounded) {
  AsyncRun run(GetParam(), "", "stale(bound=2)");
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  Launched::send_to(run.launched.rank(1), SIGKILL);
  ASSERT_TRUE(run.wait_for("death")) << run.launched.outcome(0);
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  run.stopped();
  EXPECT_EQ(run.events("relaunch"), 0);
  EXPECT_NE(run.told().find("until it died"), std::string::npos) << run.told();
}

// All need each other in lockstep: a death is met as that of a server.
TEST_P(AsyncRunsUnder, AWorkerInLockstepIsMissedByAll) {
  AsyncRun run(GetParam(), "", "server");
  ASSERT_TRUE(run.go_on() && run.go_on()) << run.launched.outcome(0);
  Launched::send_to(run.launched.rank(1), SIGKILL);
  ASSERT_TRUE(run.wait_for("relaunch")) << run.launched.outcome(0);
  ASSERT_TRUE(run.launched.wait_until([&] { return run.events("go") == 2; })) << run.launched.outcome(0);
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  run.stopped();
}

TEST_P(AsyncRunsUnder, WithoutAServerAllStartAgainFromTheNewestCheckpoint) {
  AsyncRun run(GetParam());
  ASSERT_TRUE(run.go_on() && run.go_on()) << run.launched.outcome(0);
  Launched::send_to(run.launched.rank(3), SIGKILL);
  ASSERT_TRUE(run.wait_for("relaunch")) << run.launched.outcome(0);
  ASSERT_TRUE(run.launched.wait_until([&] { return run.events("go") == 2; })) << run.launched.outcome(0);
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  const Outcome outcome = run.stopped();
  EXPECT_SHOWS(outcome, "cannot go on without what a rank that died had kept or under way");
  EXPECT_SHOWS(outcome, "continues from");
}

INSTANTIATE_TEST_SUITE_P(Launchers, AsyncRunsUnder, testing::ValuesIn(launch_kinds()),
                         [](const auto& kind) { return kind.param.name; });

TEST(AsyncRuns, AWorkerThatStandsStillIsDropped) {
  AsyncRun run(launch_kinds()[0], "--freeze 2");
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  Launched::send_to(run.launched.rank(2), SIGSTOP);
  // The others go on at once, not only when it has been dropped.
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  ASSERT_TRUE(run.wait_for("death")) << run.launched.outcome(0);
  ASSERT_TRUE(run.go_on()) << run.launched.outcome(0);
  const Outcome outcome = run.stopped();
  EXPECT_SHOWS(outcome, "silence for 2 s");
  EXPECT_EQ(run.events("relaunch"), 0) << outcome;
}

}  // namespace
