#include "isobar/verbs/command_line.hpp"

#include <csignal>
#include <new>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar {
namespace {

std::string did;  // set by the verbs below

const Verb make_verb{"make", "makes things", [](CLI::App& command) {
                       CLI::App* const cake = command.add_subcommand("cake", "with sugar");
                       cake->add_option("--eggs")->check(CLI::PositiveNumber);
                       cake->callback([] { did = "cake"; });
                     }};
const Verb end_verb{"end", "ends as something else did",
                    [](CLI::App& command) { command.callback([] { throw CLI::RuntimeError(7); }); }};
const Verb lack_verb{"lack", "needs more than there is",
                     [](CLI::App& command) { command.callback([] { throw std::bad_alloc(); }); }};
const Verb fail_verb{"fail", "cannot", [](CLI::App& command) { command.callback([] { fail("no {}", "flour"); }); }};

struct Ended {
  int code;
  std::string out, err;
};

Ended call(std::vector<std::string> words) {
  static constexpr const Verb* verbs[] = {&make_verb, &end_verb, &lack_verb, &fail_verb};
  words.insert(words.begin(), "baker");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  did.clear();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = end_of("baker", [&] {
    return run_program({"baker", "Bakes.", "1.2", verbs}, static_cast<int>(arguments.size()), arguments.data());
  });
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(CommandLine, RunsTheVerbThatIsNamed) {
  const Ended ended = call({"make", "cake", "--eggs", "3"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(did, "cake");
  EXPECT_EQ(ended.out + ended.err, "");
  EXPECT_EQ(call({"--version"}).out, "baker 1.2\n");
  EXPECT_NE(call({"--help"}).out.find("makes things"), std::string::npos);
}

TEST(CommandLine, SaysWhatIsWrongWithACallAndWhatWouldBeRight) {
  const Ended unknown = call({"mak"});
  EXPECT_EQ(unknown.code, exit_usage);
  EXPECT_EQ(unknown.err, "baker: unknown verb 'mak' (did you mean 'make'?)\n");
  const Ended wrong = call({"make", "cake", "--sugar"});
  EXPECT_EQ(wrong.code, exit_usage);
  EXPECT_NE(wrong.err.find("('baker make cake --help' lists the options)"), std::string::npos) << wrong.err;
  const Ended nothing = call({});
  EXPECT_EQ(nothing.code, exit_usage);
  EXPECT_NE(nothing.out.find("makes things"), std::string::npos);
}

TEST(CommandLine, FailuresAreOneLineAndACode) {
  EXPECT_EQ(call({"end"}).code, 7);
  const Ended lack = call({"lack"}), failed = call({"fail"});
  EXPECT_EQ(lack.code, exit_failed);
  EXPECT_EQ(lack.err, "baker: out of memory\n");
  EXPECT_EQ(failed.code, exit_failed);
  EXPECT_EQ(failed.err, "baker: no flour\n");
}

// In its own process, so that signal handlers here stay unchanged.
int ended_by(void (*work)()) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

TEST(StopSignals, TheFirstAsksForAStopAndTheSecondEndsTheProgram) {
  EXPECT_EQ(ended_by([] {
              catch_signals();
              std::raise(SIGUSR1);
              _exit(stop_requested() ? 3 : 4);
            }),
            3);
  EXPECT_EQ(ended_by([] {
              catch_signals();
              std::raise(SIGTERM);
              std::raise(SIGTERM);
            }),
            -SIGTERM);
  EXPECT_EQ(ended_by([] {
              std::signal(SIGUSR1, SIG_IGN);
              catch_signals();
              std::raise(SIGUSR1);
              _exit(stop_requested() ? 3 : 4);
            }),
            4);
}

TEST(StopSignals, ChildrenEndAtTheFirst) {
  EXPECT_EQ(ended_by([] {
              catch_signals_with_children();
              const int child = ended_by([] { std::raise(SIGINT); });
              _exit(child == exit_interrupted && !stop_requested() ? 3 : 4);
            }),
            3);
  EXPECT_EQ(ended_by([] {
              catch_signals_with_children();
              std::raise(SIGINT);
              _exit(stop_requested() ? 3 : 4);
            }),
            3);
}

}  // namespace
}  // namespace isobar
