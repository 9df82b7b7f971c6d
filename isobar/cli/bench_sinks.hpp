// What `isobar bench sinks` and `saves` measure: what records and checkpoints cost a run. Programs take turns in the
// same training: with all sinks of a run, with every step traced, with checkpoints, and with none of these.
#pragma once

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

namespace isobar::cli {

struct SinkOptions {
  std::string model;  ///< empty: that of the contest
  std::string serve;  ///< of a contestant: none, all, every or saves; empty: this is not one
};

void add_sink_options(CLI::App& command, SinkOptions& options);

/// Serves training steps of a whole run, with files below `scratch`, to the contest that started this program. The run
/// has no sinks, with or without checkpoints, or all sinks, with the usual share of steps traced or every step.
void serve_sinks(const SinkOptions& options, const std::filesystem::path& scratch);

}  // namespace isobar::cli
