// Whole supervised runs without MPI: real processes with shields, killed, frozen, failing, relaunched; and the launcher
// itself killed.
#include "isobar/control/supervisor.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "isobar/control/command.hpp"
#include "isobar/control/shield.hpp"

#include "tests/temporary_folder.hpp"

namespace isobar::control {
namespace {

struct Supervised : testing::Test {
  int run(int ranks, int spares, const std::string& scenario) {
    supervision.ranks.ranks = ranks;
    supervision.ranks.spares = spares;
    supervision.command = {ISOBAR_CONTROL_RANKS, std::to_string(ranks + spares), scenario};
    supervision.environment = {{"ISOBAR_TEST_LAUNCHER", std::to_string(getpid())}};
    supervision.log = folder / "log.jsonl";
    testing::internal::CaptureStderr();
    const int code = supervise(supervision);
    text = testing::internal::GetCapturedStderr();
    std::ifstream in(supervision.log);
    for (std::string line; std::getline(in, line);) log.push_back(line);
    return code;
  }
  int logged(const std::string& word) const {
    int count = 0;
    for (const std::string& line : log) count += line.find(word) != std::string::npos;
    return count;
  }
  bool says(const std::string& words) const { return text.find(words) != std::string::npos; }

  isobar::tests::TemporaryFolder folder;
  Supervision supervision{};
  std::string text;
  std::vector<std::string> log;
};

TEST_F(Supervised, a_run_without_deaths_ends_with_nothing_to_tell) {
  EXPECT_EQ(run(2, 1, "none"), 0) << text;
  EXPECT_EQ(text, "");
  EXPECT_EQ(logged(R"("event":"end")"), 1);
}

TEST_F(Supervised, a_killed_rank_is_replaced_by_the_spare) {
  EXPECT_EQ(run(3, 1, "kill"), 0) << text;
  EXPECT_TRUE(says("died of signal 9 during \"step 20\"; 3 ranks go on, rank 3 takes its place: step ")) << text;
  EXPECT_EQ(logged(R"("event":"recovered")"), 1);
  EXPECT_EQ(logged(R"("event":"relaunch")"), 0);
}

TEST_F(Supervised, the_first_rank_may_die_too) {
  EXPECT_EQ(run(3, 0, "kill_lead"), 0) << text;
  EXPECT_TRUE(says("rank 0 (pid")) << text;
  EXPECT_TRUE(says("2 ranks go on")) << text;
}

TEST_F(Supervised, two_deaths_at_once_are_survived) {
  EXPECT_EQ(run(4, 1, "kill_two"), 0) << text;
  EXPECT_EQ(logged(R"("event":"recovered")"), 2);
}

TEST_F(Supervised, too_few_ranks_are_relaunched_until_the_limit) {
  supervision.ranks.least = 3;
  supervision.relaunches = 1;
  EXPECT_EQ(run(3, 0, "kill"), 1) << text;
  EXPECT_TRUE(says("2 ranks are left, --min-ranks asks for 3")) << text;
  EXPECT_TRUE(says("given up after 1 relaunches")) << text;
  EXPECT_EQ(logged(R"("event":"launch")"), 2);
}

TEST_F(Supervised, a_frozen_rank_is_killed_and_the_others_go_on) {
  supervision.freeze_seconds = 4;  // ranks that only wait for a core are not silent for that long
  EXPECT_EQ(run(3, 0, "freeze"), 0) << text;
  EXPECT_TRUE(says("rank 1 (pid")) << text;
  EXPECT_TRUE(says("died of silence for 4 s")) << text;
}

TEST_F(Supervised, a_failure_ends_the_run_with_its_code) {
  EXPECT_EQ(run(3, 1, "fail"), 3) << text;
  EXPECT_EQ(logged("a rank that fails by itself"), 1);
  EXPECT_EQ(logged(R"("event":"death")"), 0) << text;
}

TEST_F(Supervised, a_wrong_call_ends_with_its_code_and_is_not_tried_again) {
  EXPECT_EQ(run(3, 0, "usage"), 2) << text;
  EXPECT_EQ(logged(R"("event":"launch")"), 1);
}

TEST_F(Supervised, who_gives_up_is_relaunched) {
  EXPECT_EQ(run(3, 0, "give_up"), 0) << text;
  EXPECT_TRUE(says("the work cannot continue in place: rank 2: it is asked for")) << text;
  EXPECT_EQ(logged(R"("event":"launch")"), 2);
}

TEST_F(Supervised, a_death_at_the_start_is_relaunched) {
  EXPECT_EQ(run(3, 0, "early"), 0) << text;
  EXPECT_TRUE(says("rank 1 died before the work began")) << text;
}

TEST_F(Supervised, deaths_at_every_start_end_with_the_limit) {
  supervision.relaunches = 2;
  EXPECT_EQ(run(2, 0, "always_early"), 1) << text;
  EXPECT_EQ(logged(R"("event":"launch")"), 3);
}

TEST_F(Supervised, ranks_that_end_well_without_a_word_are_done) { EXPECT_EQ(run(2, 0, "stranger"), 0) << text; }

TEST_F(Supervised, a_signal_lets_all_end_in_order) {
  EXPECT_EQ(run(3, 1, "signal_launcher"), 130) << text;
  EXPECT_TRUE(says("asked to stop")) << text;
  EXPECT_EQ(logged(R"("event":"death")"), 0) << text;
}

TEST_F(Supervised, a_command_that_starts_nothing_is_told) {
  supervision.ranks = {2, 0, 1};
  supervision.command = {"/bin/sh", "-c", "exit 3"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(supervise(supervision), 1);
  text = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(says("no rank has reached the launcher")) << text;
  EXPECT_TRUE(says("--address")) << text;
}

// Every process of the run holds the pipe open until it ends.
TEST_F(Supervised, ranks_of_a_killed_launcher_end_by_themselves) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    run(3, 1, "kill_launcher");
    _exit(0);
  }
  close(ends[1]);
  int status = 0;
  ASSERT_EQ(waitpid(launcher, &status, 0), launcher);
  EXPECT_TRUE(WIFSIGNALED(status));
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0);
  close(ends[0]);
}

TEST(Command, tells_how_it_ended) {
  const auto code_of = [](const std::string& script) {
    Command command({"/bin/sh", "-c", script}, {{"ISOBAR_TEST_WORD", "7"}});
    while (!command.ended()) usleep(1000);
    return *command.ended();
  };
  EXPECT_EQ(code_of("exit $ISOBAR_TEST_WORD"), 7);
  EXPECT_EQ(code_of("kill -TERM $$"), 128 + SIGTERM);
  Command lasting({"sleep", "1000"}, {});
  EXPECT_FALSE(lasting.ended());
  lasting.signal(SIGKILL);
  while (!lasting.ended()) usleep(1000);
}

TEST(Shield, is_raised_only_for_a_rank_of_a_launcher) {
  raise_shield(0);  // would fork, and the tests would run twice
  EXPECT_EQ(last_words(), nullptr);
  EXPECT_EQ(launch_number(), 0);
}

}  // namespace
}  // namespace isobar::control
