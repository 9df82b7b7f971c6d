// Runs bin/isobar-sim in tests.
#pragma once

#include "tests/program.hpp"

// `arguments` are shell words.
inline Outcome run_simulator(const std::string& arguments) {
  return run_command(std::string(ISOBAR_SIM_PROGRAM) + " " + arguments);
}

inline void expect_wrong_call(const std::string& arguments, const std::string& message) {
  expect_wrong(run_simulator(arguments), arguments, "isobar-sim", message);
}

// A small network that is quick to plan and to simulate.
inline const std::string small_network = "--model 'hep(size=32, filters=8, layers=3)' --batch 4 --steps 4 --quiet ";
