// What `isobar bench sinks` measures: what it costs a run to tell of itself. Two programs train the same, one with
// everything that listens to a run and one with nothing; a third one traces every step.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace isobar::cli {

struct SinkOptions {
  std::string model = "cosmoflow(size=64)";
  std::string serve;  ///< of a contestant: none, all, or every; empty: not one
};

void add_sink_options(CLI::App& command, SinkOptions& options);

/// Serves training steps of a whole run, kept below `scratch`, to the contest that started this program: its sinks are
/// none, or all of a run with its share of traced steps, or all with every step traced.
void serve_sinks(const SinkOptions& options, const std::filesystem::path& scratch);

void measure_sinks(const SinkOptions& options, int rounds, int threads, const std::filesystem::path& scratch,
                   std::ofstream& record, const std::function<void(const std::string&)>& note);

}  // namespace isobar::cli
