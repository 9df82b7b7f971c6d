// isobar watch: what it shows for runs that have ended, do not exist or are running; and that Ctrl-C ends it.
#include "tests/cli/launched.hpp"

namespace {

std::string watch_trained(const TemporaryFolder& folder, const std::string& more = "") {
  return "train '" + small_recipe(folder) + "' --set 'folder=" + folder / "run" + "' " + more;
}

// The lines of a run without its status, which appears every ten seconds and so depends on time.
std::string lasting(const std::string& text) {
  std::istringstream lines(text);
  std::string lasting;
  for (std::string line; std::getline(lines, line);)
    if (line.find("] step ") == std::string::npos && !line.starts_with("waiting ")) lasting += line + "\n";
  return lasting;
}

std::string watch(const TemporaryFolder& folder) {
  return std::string(ISOBAR_PROGRAM) + " watch '" + folder / "run" + "'";
}

bool waits(Launched& launched) {
  return launched.wait_until([&] { return launched.outcome(0).has("waiting for the first step of a run in"); });
}

TEST(Watch, AFinishedRunIsShownAsItShowedItself) {
  const TemporaryFolder folder;
  const Outcome run = run_isobar(watch_trained(folder));
  ASSERT_EQ(run.code, 0) << run;
  const Outcome watched = run_isobar("watch '" + folder / "run" + "'");
  EXPECT_EQ(watched.code, 0) << watched;
  EXPECT_EQ(lasting(watched.text), lasting(run.text));
  const Outcome once = run_isobar("watch --once '" + folder / "run" + "'");
  EXPECT_EQ(once.code, 0) << once;
  EXPECT_SHOWS(once, "epoch 2/2");
  EXPECT_SHOWS(once, "\nfinished 10 steps in ");
}

TEST(Watch, OnceWantsARun) {
  const TemporaryFolder folder;
  const Outcome outcome = run_isobar("watch --once '" + folder / "nothing" + "'");
  EXPECT_EQ(outcome.code, 1) << outcome;
  EXPECT_TRUE(outcome.one_line()) << outcome;
  EXPECT_SHOWS(outcome, "is not the folder of a run");
  expect_wrong_call("watch", "run");
}

TEST(Watch, WaitsForARunAndEndsOnASignal) {
  const TemporaryFolder folder;
  Launched launched(watch(folder), folder / "output");
  ASSERT_TRUE(waits(launched)) << launched.outcome(0);
  launched.send(SIGINT);
  EXPECT_EQ(launched.outcome(60).code, 130);
}

TEST(Watch, FollowsARunThatBeginsLater) {
  const TemporaryFolder folder;
  Launched launched(watch(folder), folder / "output");
  ASSERT_TRUE(waits(launched)) << launched.outcome(0);
  const Outcome run = run_isobar(watch_trained(folder));
  ASSERT_EQ(run.code, 0) << run;
  const Outcome outcome = launched.outcome(60);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(lasting(outcome.text), lasting(run.text));
}

TEST(Watch, AKilledRunKeepsItsLines) {
  const TemporaryFolder folder;
  {
    Launched run(std::string(ISOBAR_PROGRAM) + " " + watch_trained(folder, "--set train.epochs=1000000"),
                 folder / "output");
    // Lines are written a moment after they are shown.
    const auto written = [&] {
      std::ifstream lines(folder / "run/timing.jsonl");
      return std::string(std::istreambuf_iterator<char>(lines), {}).find(R"("kind":"epoch")") != std::string::npos;
    };
    ASSERT_TRUE(run.wait_until(written)) << run.outcome(0);
    run.send(SIGKILL);
    EXPECT_EQ(run.outcome(60).code, 128 + SIGKILL);
  }
  const Outcome once = run_isobar("watch --once '" + folder / "run" + "'");
  EXPECT_EQ(once.code, 0) << once;
  EXPECT_SHOWS(once, "samples/s");
  EXPECT_SHOWS(once, "last written at ");
}

}  // namespace
