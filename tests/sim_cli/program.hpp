// Runs bin/isobar-sim in tests.
#pragma once

#include "tests/program.hpp"

// `arguments` as for a shell.
inline Outcome run_simulator(const std::string& arguments) {
  return run_command(std::string(ISOBAR_SIM_PROGRAM) + " " + arguments);
}

inline void expect_wrong_call(const std::string& arguments, const std::string& message) {
  expect_wrong(run_simulator(arguments), arguments, "isobar-sim", message);
}

// A network that is planned at once and simulated in no time.
inline const std::string small_network = "--model 'hep(size=32, filters=8, layers=3)' --batch 4 --steps 4 --quiet ";
