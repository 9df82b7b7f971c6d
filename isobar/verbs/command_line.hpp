// What programs with verbs share: finding the verb that a command line names, and how failures end.
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

/// Runs the verb that is named; returns the exit code. A wrong call is a UsageError that says what would be right.
int run_program(const Program& program, int argc, char** argv);

/// What a main() returns: the exit code of `work`, or when it throws exit_usage or exit_failed after one line about it.
int end_of(const std::string& name, const std::function<int()>& work);

}  // namespace isobar
