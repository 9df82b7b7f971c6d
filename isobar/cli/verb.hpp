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

/// All verbs, in the order --help lists them.
std::span<const Verb* const> verbs();

/// Set by SIGINT and SIGTERM once catch_signals() was called: long jobs end cleanly at the next step.
std::atomic<bool>& stop_requested();
/// A second signal ends the program at once.
void catch_signals();

}  // namespace isobar::cli
