// Runs bin/isobar-sim in tests and looks at what it prints and how it ends.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string text;  // stdout and stderr

  bool has(const std::string& part) const { return text.find(part) != std::string::npos; }
  // A failure is told in one line.
  bool one_line() const { return text.find('\n') + 1 == text.size(); }
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& o) {
  return out << "exit " << o.code << ":\n" << o.text;
}

// `arguments` as for a shell.
inline Outcome run_simulator(const std::string& arguments) {
  const std::string command = std::string(ISOBAR_SIM_PROGRAM) + " " + arguments + " 2>&1 </dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  Outcome outcome;
  std::array<char, 4096> part;
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) outcome.text.append(part.data(), got);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

#define EXPECT_SHOWS(outcome, part) EXPECT_TRUE((outcome).has(part)) << (outcome)

inline void expect_wrong_call(const std::string& arguments, const std::string& message) {
  const Outcome outcome = run_simulator(arguments);
  EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome;
  EXPECT_TRUE(outcome.one_line()) << arguments << "\n" << outcome;
  EXPECT_TRUE(outcome.text.starts_with("isobar-sim: ")) << outcome;
  EXPECT_SHOWS(outcome, message);
}

// A network that is planned at once and simulated in no time.
inline const std::string small_network = "--model 'hep(size=32, filters=8, layers=3)' --batch 4 --steps 4 --quiet ";
