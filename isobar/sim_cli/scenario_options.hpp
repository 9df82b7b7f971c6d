// The options of all verbs that simulate: a network or a trace, a platform, how to simulate, and where tables go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isobar/forecast/calibration.hpp"
#include "isobar/forecast/scenario_runner.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::sim_cli {

struct ScenarioOptions {
  std::string model{}, trace{}, platform{}, split = "none", optimizer = "adam", input = "none";
  double node_gflops = 0, trace_gflops = 0, sample_gflops = 0, sample_mb = 0;
  bool as_measured = false, flows = false, rounds = false, quiet = false;
  std::int64_t batch = 0;
  int ranks_per_node = 0, steps = 24;
  std::uint64_t seed = 1;
  std::vector<std::string> calibrate{};  ///< runs that the platform is fitted to
  std::string out{};                     ///< the folder for tables; empty: none is written
  bool resume = false;
};

/// Declares these options on a command, except the last two.
void add_scenario_options(CLI::App& command, ScenarioOptions& options);
/// Declares --out, which it describes as `meaning`, and --resume.
void add_out_options(CLI::App& command, ScenarioOptions& options, const std::string& meaning);

/// Lets a command call `work`; a signal then ends its simulations.
template <class Options>
void on_call(CLI::App& command, std::shared_ptr<Options> options, void (*work)(const Options&)) {
  command.callback([options, work] {
    catch_signals_with_children();
    work(*options);
  });
}

/// A scenario, fitted if runs were given.
struct Calibrated {
  sim::Scenario base{};
  forecast::ForecastError error{};
  std::string text{};  ///< what was fitted; empty: nothing
};

/// Reads everything of a scenario except strategy and ranks, and fits it to the runs given. Throws UsageError for
/// options that do not fit together. Without --model and --trace, the workload is that of the run on the fewest ranks,
/// with times as measured.
Calibrated read_calibrated(ScenarioOptions options);

/// The runner of a verb: shows progress and ends at a signal.
forecast::ScenarioRunner make_runner(const ScenarioOptions& options, bool losses = false);

/// Writes NAME.txt and NAME.csv to the folder of --out, if there is one, and says so.
void write_table(const ScenarioOptions& options, const std::string& name, const std::string& text,
                 const std::string& csv);

/// Parses Specs; throws UsageError for an invalid one.
std::vector<Spec> specs_of(const std::vector<std::string>& texts);

/// Adds the option for numbers of ranks, such as "1,64,1024".
void add_ranks_option(CLI::App& command, std::vector<int>& ranks);

}  // namespace isobar::sim_cli
