// Processes that crash on purpose, and what they leave behind.
#include "isobar/post_mortem/crash.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"
#include "isobar/post_mortem/post_mortem.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::post_mortem {
namespace {

namespace fs = std::filesystem;
using tests::TemporaryFolder;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Runs `crash` in a child process that is rank 3 of a run; returns the signal it died of, or -1.
int signal_of(const fs::path& run, const std::function<void()>& crash) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none{0, 0};
    setrlimit(RLIMIT_CORE, &none);
    catch_crashes(3);
    if (!run.empty()) set_post_mortem_folder(run);
    flight_recorder().note("step 11");
    flight_recorder().note("step 12: gradients 3 of 7");
    flight_recorder().begin_sum("gradients 4 of 7 of step 12");
    crash();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

volatile int* nowhere = nullptr;

TEST(Crash, LeavesSignalAddressStackNotesAndSums) {
  const TemporaryFolder folder;
  EXPECT_EQ(signal_of(folder.path(), [] { *(nowhere + 1024) = 1; }), SIGSEGV);
  const std::string text = text_of(post_mortem_file(folder.path(), 3));
  EXPECT_HAS(text, "post-mortem of rank 3, told by the rank itself, 20");
  EXPECT_HAS(text, "died of signal 11 (SIGSEGV, segmentation fault) at address 0x1000\n");
  EXPECT_HAS(text, "process:  ");
  EXPECT_HAS(text, "gradients 4 of 7 of step 12");
  EXPECT_LT(text.find("step 11\n"), text.find("step 12: gradients 3 of 7\n"));
  EXPECT_HAS(text, "stack");
  EXPECT_HAS(text, "test_post_mortem");
}

TEST(Crash, AnExpectationThatNobodyCatchesIsNamed) {
  const TemporaryFolder folder;
  const int signal = signal_of(folder.path(), [] { std::thread([] { expects(false, "a wish come true"); }).join(); });
  EXPECT_EQ(signal, SIGABRT);
  const std::string text = text_of(post_mortem_file(folder.path(), 3));
  EXPECT_HAS(text, "died of signal 6 (SIGABRT, aborted)\n");
  EXPECT_HAS(text, "uncaught exception: ");
}

TEST(Crash, ASignalFromOutsideSaysFromWhom) {
  const TemporaryFolder folder;
  const pid_t parent = getpid();
  EXPECT_EQ(signal_of(folder.path(),
                      [] {
                        const pid_t self = getpid();
                        if (fork() == 0) {
                          kill(self, SIGBUS);
                          _exit(0);
                        }
                        for (;;) pause();
                      }),
            SIGBUS);
  EXPECT_HAS(text_of(post_mortem_file(folder.path(), 3)), "died of signal 7 (SIGBUS, bus error), sent by process ");
  EXPECT_EQ(parent, getpid());
}

volatile int depth_limit = 1 << 30;

int nearly_without_end(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return depth < depth_limit ? nearly_without_end(depth + 1) + room[0] : 0;
}

TEST(Crash, AStackThatIsUsedUpLeavesAReport) {
  const TemporaryFolder folder;
  EXPECT_EQ(signal_of(folder.path(), [] { nearly_without_end(0); }), SIGSEGV);
  EXPECT_HAS(text_of(post_mortem_file(folder.path(), 3)), "died of signal 11");
}

TEST(Crash, SecondReportsAreAppended) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(signal_of(folder.path(), [] { raise(SIGFPE); }), SIGFPE);
  ASSERT_TRUE(append_post_mortem(folder.path(), {.rank = 3, .cause = "died of signal 8", .told_by = "the launcher"}));
  const std::string text = text_of(post_mortem_file(folder.path(), 3));
  std::size_t reports = 0;
  for (std::size_t at = text.find("post-mortem of rank 3"); at != text.npos; at = text.find("post-mortem of", at + 1))
    ++reports;
  EXPECT_EQ(reports, 3u);
  EXPECT_HAS(text, "told by the launcher");
}

TEST(Crash, WithoutAFolderOrWithAWrongOneTheSignalIsTheSame) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(signal_of("", [] { raise(SIGSEGV); }), SIGSEGV);
  EXPECT_EQ(signal_of("/proc/none", [] { raise(SIGILL); }), SIGILL);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_HAS(told, "isobar: [rank 3] died of signal 11");
  EXPECT_HAS(told, "isobar: [rank 3] died of signal 4");
  EXPECT_HAS(told, "step 12: gradients 3 of 7");
}

TEST(Crash, AnExceptionThatEndsARankIsReported) {
  const TemporaryFolder folder;
  EXPECT_EQ(signal_of(folder.path(), [] { report_failure("a.h5: cannot\nbe read"); }), -1);
  const std::string text = text_of(post_mortem_file(folder.path(), 3));
  EXPECT_HAS(text, "cause:    a.h5: cannot be read\n");
  EXPECT_HAS(text, "step 12: gradients 3 of 7");
  EXPECT_HAS(text, "gradients 4 of 7 of step 12");
}

}  // namespace
}  // namespace isobar::post_mortem
