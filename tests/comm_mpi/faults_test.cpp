// Worlds in which a rank fails, dies or hangs, under both launchers: every rank must end within 30 seconds, and the
// user must read once which rank it was and why. The worlds are runs of scenarios.cpp.
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/comm_mpi/launches.hpp"

namespace {

struct FaultsOutcome {
  int code = -1;
  std::string text;

  int count(const std::string& part) const {
    int found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
    return found;
  }
};

std::ostream& operator<<(std::ostream& out, const FaultsOutcome& o) {
  return out << "exit " << o.code << ":\n" << o.text;
}

// Whether a process with this word in its environment still exists.
bool anybody_knows(const std::string& word) {
  std::error_code gone;
  for (const auto& process : std::filesystem::directory_iterator("/proc", gone)) {
    if (!std::isdigit(process.path().filename().string()[0])) continue;
    std::ifstream file(process.path() / "environ");
    std::stringstream text;
    text << file.rdbuf();
    if (text.str().find(word) != std::string::npos) return true;
  }
  return false;
}

class Faults : public testing::TestWithParam<MpiLaunch> {
 protected:
  // timeout returns 124 if the time limit was reached.
  FaultsOutcome run(const std::string& scenario) {
    const std::string word =
        "ISOBAR_TEST_WORLD=" + std::to_string(getpid()) + "_" + std::to_string(++worlds_) + "_" + scenario;
    const std::string command =
        "env " + word + " timeout -k 1 30 " + GetParam().scenarios + " " + scenario + " 2>&1 </dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error("cannot run " + command);
    FaultsOutcome outcome;
    std::array<char, 4096> part;
    while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) outcome.text.append(part.data(), got);
    const int status = pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    EXPECT_NE(outcome.code, 124) << "still running after 30 seconds: " << outcome;
    for (int look = 0; look < 50 && anybody_knows(word); ++look)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_FALSE(anybody_knows(word)) << "a rank or a witness is left behind";
    return outcome;
  }

  // `code`: 0 stands for any other than 0, if the launcher ends ranks that cannot end by themselves.
  void expect_told_once(const std::string& scenario, const std::string& message, int code = 0) {
    const FaultsOutcome outcome = run(scenario);
    if (code == 0) EXPECT_NE(outcome.code, 0) << outcome;
    else EXPECT_EQ(outcome.code, code) << outcome;
    EXPECT_EQ(outcome.count("isobar: "), 1) << outcome;
    EXPECT_EQ(outcome.count(message), 1) << "for '" << message << "' " << outcome;
  }

 private:
  int worlds_ = 0;
};

TEST_P(Faults, AWorldWithoutAFaultEndsQuietly) {
  const FaultsOutcome outcome = run("well");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.text, "");
}

TEST_P(Faults, AFailureIsToldOnceWhateverTheOthersDo) {
  for (const char* scenario : {"fails", "fails_while_others_work"})
    expect_told_once(scenario, "isobar: [rank 2] the disk is full\n", 1);
  for (const char* scenario : {"fails_while_others_are_deaf", "fails_while_others_sum"})
    expect_told_once(scenario, "isobar: [rank 2] the disk is full\n");
}

TEST_P(Faults, WhenAllRanksFailOneTells) { expect_told_once("all_fail", "] cannot open recipe ", 1); }

TEST_P(Faults, TheUserGetsTheExitCodeOfTheRankThatFailed) {
  expect_told_once("all_are_called_wrongly", "] no such recipe\n", 2);
  expect_told_once("one_is_called_wrongly", "isobar: [rank 2] no such recipe\n", 2);
}

TEST_P(Faults, ARankThatDiesIsNamedWithWhatItDid) {
  for (const char* scenario : {"killed", "crashes"}) {
    expect_told_once(scenario, "isobar: [rank 2] died (process ");
    expect_told_once(scenario, "its last note: step 12: exchanges gradients\n");
  }
}

// Code that is not ours may call exit. The launchers disagree about the exit code of such a world.
TEST_P(Faults, ARankThatExitsInTheMiddleIsNamed) {
  const FaultsOutcome outcome = run("exits");
  EXPECT_EQ(outcome.count("isobar: [rank 2] died (process "), 1) << outcome;
}

TEST_P(Faults, ARankThatDiesIsNamedWhateverTheOthersDo) {
  expect_told_once("killed_first", "isobar: [rank 0] died (process ");
  expect_told_once("killed_while_others_are_deaf", "isobar: [rank 2] died (process ");
}

TEST_P(Faults, AStoppedRankDoesNotKeepTheOthers) { expect_told_once("stopped", "] rank 2 does not answer\n"); }

TEST_P(Faults, ALargeMessageThatNobodyReceivesEndsTheWorld) {
  expect_told_once("drops_a_message", "isobar: [rank 2] a message of 4194304 bytes to rank 3 was dropped half way\n");
}

TEST_P(Faults, WaitingForARankThatHasEndedIsAFailure) {
  expect_told_once("leaves_early", "isobar: [rank 1] waited for rank 2, which has ended\n");
}

INSTANTIATE_TEST_SUITE_P(Launchers, Faults, testing::ValuesIn(mpi_launches()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
