// Supervisor: what `isobar run` does. It starts the command that starts the ranks, serves them until they have ended,
// and restarts them if they cannot continue in place. Stop signals are forwarded to the ranks; a second one ends
// everything.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "isobar/control/roster.hpp"

namespace isobar::control {

struct Supervision {
  Roster::Setup ranks;
  std::vector<std::string> command;                                ///< what starts all ranks
  std::vector<std::pair<std::string, std::string>> environment{};  ///< for the command; the user's own values win
  std::string address = "127.0.0.1";                               ///< under which ranks reach this machine
  bool everywhere = false;                                         ///< ranks run on other machines too
  double freeze_seconds = 10, hello_seconds = 60;
  int relaunches = 5;
  std::filesystem::path log{};  ///< JSON lines of what happened; empty: none
};

/// Runs until the work is done or cannot be done; returns the exit code. Reports what happens on standard error.
int supervise(const Supervision& supervision);

}  // namespace isobar::control
