// Runs bin/isobar in tests.
#pragma once

#include "tests/program.hpp"

// `arguments` are shell words; `before` is what the shell runs first.
inline Outcome run_isobar(const std::string& arguments, const std::string& before = "") {
  return run_command(before + ISOBAR_PROGRAM + " " + arguments);
}

inline void expect_wrong_call(const std::string& arguments, const std::string& message) {
  expect_wrong(run_isobar(arguments), arguments, "isobar", message);
}
