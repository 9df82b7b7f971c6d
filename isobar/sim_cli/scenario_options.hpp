// The options of all verbs that simulate: a network or a trace, a platform, and how to simulate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::sim_cli {

struct ScenarioOptions {
  std::string model{}, trace{}, platform{}, optimizer = "adam", input = "none";
  double node_gflops = 0, trace_gflops = 0, sample_gflops = 0, sample_mb = 0;
  bool as_measured = false, flows = false, rounds = false, quiet = false;
  std::int64_t batch = 0;
  int ranks_per_node = 0, steps = 24;
  std::uint64_t seed = 1;
};

/// Declares these options on a command.
void add_scenario_options(CLI::App& command, ScenarioOptions& options);

/// Everything of a scenario except strategy and ranks. Throws UsageError for options that do not fit together.
sim::Scenario read_scenario(const ScenarioOptions& options);

/// The runner of a verb: shows progress and ends at a signal. `folder` may be empty.
forecast::ScenarioRunner make_runner(const ScenarioOptions& options, const std::string& folder, bool resume,
                                     bool losses);

/// Parses Specs; throws UsageError for an invalid one.
std::vector<Spec> specs_of(const std::vector<std::string>& texts);

/// Adds the option for numbers of ranks, such as "1,64,1024".
void add_ranks_option(CLI::App& command, std::vector<int>& ranks);

}  // namespace isobar::sim_cli
