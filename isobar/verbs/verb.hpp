// A verb of a program's command line: `isobar train`, `isobar-sim forecast`, ... One file per verb, one row in the
// table of its program's main.cpp.
#pragma once

#include <atomic>
#include <string_view>

#include <CLI/CLI.hpp>

namespace isobar {

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Declares the verb's arguments on `command` and sets what runs as its callback.
  void (*declare)(CLI::App& command);
};

/// How a program ends when the call was wrong, when it was stopped and can go on, and for any other failure. The
/// second is what shells give a program ended by Ctrl-C.
inline constexpr int exit_usage = 2, exit_interrupted = 130, exit_failed = 1;

/// Set by a signal once signals are caught: long work ends cleanly as soon as it can.
std::atomic<bool>& stop_requested();
/// From now on SIGINT, SIGTERM and SIGUSR1, which is ignored still if it was, ask for a stop; with `shows` that is told
/// at once. A second signal ends the program at once.
void catch_signals(bool shows = false);
/// For a program whose child processes do the work: SIGINT and SIGTERM ask for a stop; a second one ends the program at
/// once. Children that are made afterwards end at the first.
void catch_signals_with_children();

}  // namespace isobar
