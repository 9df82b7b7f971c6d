// Runs programs in tests and looks at what they print and how they end.
#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
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

// As for a shell.
inline Outcome run_command(const std::string& words) {
  const std::string command = words + " 2>&1 </dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  Outcome outcome;
  std::array<char, 4096> part;
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe)) outcome.text.append(part.data(), got);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return outcome;
}

// Names in it are used in command lines.
class TemporaryFolder : public isobar::tests::TemporaryFolder {
 public:
  std::string operator/(const std::string& name) const { return (path() / name).string(); }
};

#define EXPECT_SHOWS(outcome, part) EXPECT_TRUE((outcome).has(part)) << (outcome)

// A wrong call ends with 2 and one line, in which the program says its name and what was wrong.
inline void expect_wrong(const Outcome& outcome, const std::string& arguments, const std::string& program,
                         const std::string& message) {
  EXPECT_EQ(outcome.code, 2) << arguments << "\n" << outcome;
  EXPECT_TRUE(outcome.one_line()) << arguments << "\n" << outcome;
  EXPECT_TRUE(outcome.text.starts_with(program + ": ")) << outcome;
  EXPECT_SHOWS(outcome, message);
}
