// Supervisor: the life of `isobar run`. It starts the command that starts the ranks, attends to them until they have
// ended, and starts them anew where they cannot go on in place. Signals to stop are passed on; a second one ends
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
  std::vector<std::pair<std::string, std::string>> environment{};  ///< for the command, unless the user has set it
  std::string address = "127.0.0.1";                               ///< by which ranks reach this machine
  bool everywhere = false;                                         ///< ranks are on other machines too
  double freeze_seconds = 10, hello_seconds = 60;
  int relaunches = 5;
  std::filesystem::path log{};  ///< JSON lines of what happened; empty: none
};

/// Runs until the work is over or cannot be done; returns the exit code. Says what happens on the standard error.
int supervise(const Supervision& supervision);

}  // namespace isobar::control
