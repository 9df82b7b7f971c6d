// A verb of the command line: `isobar train`, `isobar plan`, ... One file per verb, one row in the table of verbs.cpp.
#pragma once

#include <atomic>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>

namespace isobar::cli {

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Declares the verb's arguments on `command` and sets what runs as its callback.
  void (*declare)(CLI::App& command);
};

/// How the program ends when the call was wrong, when it was stopped and can go on, and for any other failure. The
/// second is what shells give a program ended by Ctrl-C.
inline constexpr int exit_usage = 2, exit_interrupted = 130, exit_failed = 1;

/// All verbs, in the order --help lists them.
std::span<const Verb* const> verbs();

/// Set by a signal once catch_signals() was called: long jobs end cleanly at the next step.
std::atomic<bool>& stop_requested();
/// From now on SIGINT, SIGTERM and SIGUSR1, which is ignored still if it was, ask for a stop; with `shows` that is told
/// at once. A second signal ends the program at once.
void catch_signals(bool shows = false);

}  // namespace isobar::cli
