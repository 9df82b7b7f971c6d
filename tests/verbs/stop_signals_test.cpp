#include <algorithm>
#include <array>
#include <csignal>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "isobar/verbs/verb.hpp"

namespace isobar {
namespace {

// The signal comes while the stack pointer, like any other register, points into data, as in kernels of oneDNN.
TEST(StopSignals, NothingIsWrittenBelowTheStackPointer) {
  alignas(64) static std::array<char, 1 << 16> data;
  std::signal(SIGUSR1, SIG_DFL);
  catch_signals();
  long result = SYS_kill;
  asm volatile(
      "mov %%rsp, %%r12\n"
      "mov %[end], %%rsp\n"
      "syscall\n"
      "mov %%r12, %%rsp\n"
      : "+a"(result)
      : "D"(static_cast<long>(getpid())), "S"(static_cast<long>(SIGUSR1)), [end] "r"(data.data() + data.size())
      : "rcx", "r11", "r12", "memory");
  EXPECT_EQ(result, 0);
  EXPECT_TRUE(stop_requested().exchange(false));
  EXPECT_TRUE(std::ranges::all_of(data, [](char byte) { return byte == 0; }));
}

TEST(StopSignals, WhatWasIgnoredStaysIgnored) {
  std::signal(SIGUSR1, SIG_IGN);
  catch_signals();
  raise(SIGUSR1);
  EXPECT_FALSE(stop_requested());
  raise(SIGTERM);
  EXPECT_TRUE(stop_requested().exchange(false));
}

}  // namespace
}  // namespace isobar
