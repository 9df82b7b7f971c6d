// What programs with verbs share: finding the verb on the command line, and exit codes for failures.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "isobar/verbs/verb.hpp"

namespace isobar {

struct Program {
  std::string name, about, version;
  std::span<const Verb* const> verbs;  ///< in the order --help lists them
};

/// Runs the verb named on the command line; returns the exit code. A wrong call is a UsageError that says what would be
/// valid.
int run_program(const Program& program, int argc, char** argv);

/// The return value of main(): the exit code of `work` or, if it throws, exit_usage or exit_failed after printing one
/// line.
int end_of(const std::string& name, const std::function<int()>& work);

}  // namespace isobar
