// A verb of a program's command line: `isobar train`, `isobar-sim forecast`, ... Each verb has its own file and a row
// in the table of its program's main.cpp.
#pragma once

#include <atomic>
#include <string_view>

#include <CLI/CLI.hpp>

namespace isobar {

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Declares the verb's arguments on `command` and sets the callback that runs it.
  void (*declare)(CLI::App& command);
};

/// Exit codes for a wrong call, for a stop after which the program can be resumed, and for any other failure. The
/// second is the code that shells report for a program ended by Ctrl-C.
inline constexpr int exit_usage = 2, exit_interrupted = 130, exit_failed = 1;

/// Set by a signal once signals are caught; long work then ends cleanly as soon as it can.
std::atomic<bool>& stop_requested();
/// From now on SIGINT, SIGTERM and SIGUSR1 (unless it is ignored) request a stop; with `shows`, a message says so at
/// once. A second signal ends the program at once.
void catch_signals(bool shows = false);
/// For a program whose child processes do the work: SIGINT and SIGTERM request a stop; a second signal ends the program
/// at once. Children started later end at the first signal.
void catch_signals_with_children();

}  // namespace isobar
