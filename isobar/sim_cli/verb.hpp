// A verb of the simulator: `isobar-sim forecast`, `isobar-sim advise`, ... One file per verb, one row in verbs.cpp.
#pragma once

#include <atomic>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

namespace isobar::sim_cli {

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Declares the verb's arguments on `command` and sets what runs as its callback.
  void (*declare)(CLI::App& command);
};

/// How the program ends when the call was wrong, when it was stopped and can go on, and for any other failure.
inline constexpr int exit_usage = 2, exit_interrupted = 130, exit_failed = 1;

/// All verbs, in the order --help lists them.
std::span<const Verb* const> verbs();

/// Set by a signal once catch_signals() was called: no further simulation begins.
std::atomic<bool>& stop_requested();
/// From now on SIGINT and SIGTERM ask for a stop; a second one ends the program at once. Children that simulate end at
/// the first.
void catch_signals();

}  // namespace isobar::sim_cli
