// What `isobar bench sinks` and `saves` measure: what it costs a run to tell of itself, and to save itself. Programs
// train the same in turns: with everything that listens to a run, with every step traced, with checkpoints, and with
// nothing.
#pragma once

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

namespace isobar::cli {

struct SinkOptions {
  std::string model;  ///< empty: of the contest
  std::string serve;  ///< of a contestant: none, all, every or saves; empty: not one
};

void add_sink_options(CLI::App& command, SinkOptions& options);

/// Serves training steps of a whole run, kept below `scratch`, to the contest that started this program: its sinks are
/// none, with or without checkpoints, or all of a run with its share of traced steps, or all with every step traced.
void serve_sinks(const SinkOptions& options, const std::filesystem::path& scratch);

}  // namespace isobar::cli
