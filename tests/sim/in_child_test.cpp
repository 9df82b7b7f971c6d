// Work in a child: its text, its errors and its deaths reach the parent, and it does not outlive it.
#include "isobar/sim/in_child.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/expect_error.hpp"
#include "tests/temporary_folder.hpp"

namespace isobar::sim {
namespace {

using tests::error_of;

TEST(InChild, ReturnsTheTextAndLeavesTheParentAsItWas) {
  int value = 1;
  const pid_t parent = getpid();
  const std::string text = in_child([&] {
    value = 2;
    return std::to_string(value) + (getppid() == parent ? " in a child" : " elsewhere");
  });
  EXPECT_EQ(text, "2 in a child");
  EXPECT_EQ(value, 1);
  EXPECT_EQ(in_child([] { return std::string(); }), "");
  EXPECT_EQ(in_child([] { return in_child([] { return std::string("inner"); }) + " and outer"; }), "inner and outer");
}

TEST(InChild, CarriesLongTextsWithAnyBytes) {
  std::string expected(5'000'000, '\0');
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<char>(i * 31 % 256);
  EXPECT_TRUE(in_child([&] { return expected; }) == expected);
}

TEST(InChild, ThrowsWhatTheChildThrew) {
  try {
    in_child([]() -> std::string { fail_usage("ranks = {}: at least 1", 0); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& caught) {
    EXPECT_STREQ(caught.what(), "ranks = 0: at least 1");
  }
  try {
    in_child([]() -> std::string { fail("the disk is full"); });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError&) {
    ADD_FAILURE() << "an Error became a UsageError";
  } catch (const Error& caught) {
    EXPECT_STREQ(caught.what(), "the disk is full");
  }
  EXPECT_THROW(in_child([]() -> std::string { throw std::logic_error("mine"); }), std::logic_error);
  EXPECT_EQ(error_of([] { in_child([]() -> std::string { throw std::runtime_error("theirs"); }); }), "theirs");
  EXPECT_HAS(error_of([] { in_child([]() -> std::string { throw 3; }); }), "unknown kind");
  EXPECT_HAS(error_of([] { in_child([]() -> std::string { throw std::bad_alloc(); }); }), "more memory than there is");
}

TEST(InChild, TellsHowTheChildDied) {
  const std::string killed = error_of([] { in_child([] { return raise(SIGKILL), std::string(); }); });
  EXPECT_HAS(killed, "died of signal 9 (Killed)");
  EXPECT_HAS(killed, "short of memory");
  const std::string faulted = error_of([] {
    in_child([] {
      signal(SIGSEGV, SIG_DFL);
      return raise(SIGSEGV), std::string();
    });
  });
  EXPECT_HAS(faulted, "died of signal 11 (Segmentation fault)");
  EXPECT_HAS(error_of([] { in_child([]() -> std::string { _exit(7); }); }), "left with code 7");
  EXPECT_HAS(error_of([] { in_child([]() -> std::string { _exit(0); }); }), "left with code 0 and without a result");
}

TEST(InChild, PrintsWhatIsInTheBuffersOnce) {
  const tests::TemporaryFolder folder;
  const std::string file = folder / "printed";
  in_child([&] {
    if (!std::freopen(file.c_str(), "w", stdout)) return std::string("no file");
    std::printf("before, ");
    in_child([] { return std::printf("inside, "), std::string(); });
    std::printf("after");
    return std::string();
  });
  std::ifstream in(file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "before, inside, after");
}

TEST(InChild, RunsFromManyThreadsAtATime) {
  std::vector<std::thread> threads;
  std::vector<std::string> texts(8);
  for (std::size_t i = 0; i < texts.size(); ++i)
    threads.emplace_back([&texts, i] { texts[i] = in_child([i] { return std::to_string(i); }); });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::to_string(i));
}

TEST(InChild, EndsWithItsParent) {
  int inheritance[2];
  ASSERT_EQ(pipe(inheritance), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    close(inheritance[0]);
    in_child([&] {
      [[maybe_unused]] const ssize_t told = write(inheritance[1], "x", 1);
      std::this_thread::sleep_for(std::chrono::minutes(5));
      return std::string();
    });
    _exit(0);
  }
  close(inheritance[1]);
  char byte = 0;
  EXPECT_EQ(read(inheritance[0], &byte, 1), 1);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  EXPECT_EQ(read(inheritance[0], &byte, 1), 0);  // the end of the file: nobody who could write is left
  close(inheritance[0]);
}

}  // namespace
}  // namespace isobar::sim
