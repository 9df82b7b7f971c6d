// isobar-sim advise: which strategy, which algorithm for sums and how many ranks to use.
#include "isobar/forecast/advise.hpp"

#include <fmt/format.h>

#include "isobar/sim_cli/scenario_options.hpp"

namespace isobar::sim_cli {
namespace {

struct AdviseOptions {
  ScenarioOptions scenario;
  std::vector<int> ranks;
  std::vector<std::string> strategies;
  double samples = 0, threshold = 0.8;
};

void run_advise(const AdviseOptions& options) {
  const Calibrated calibrated = read_calibrated(options.scenario);
  auto runner = make_runner(options.scenario);
  const forecast::Advice advice = forecast::advise(
      {.sweep = {.base = calibrated.base, .ranks = options.ranks, .strategies = specs_of(options.strategies)},
       .epoch_samples = options.samples,
       .threshold = options.threshold},
      runner);
  const std::string text = forecast::advice_text(advice, calibrated.error);
  fmt::print("{}{}{}", calibrated.text, calibrated.text.empty() ? "" : "\n", text);
  write_table(options.scenario, "advice", text, forecast::advice_csv(advice));
}

void declare_advise(CLI::App& command) {
  const auto options = std::make_shared<AdviseOptions>();
  add_ranks_option(command, options->ranks);
  command
      .add_option("--strategy", options->strategies,
                  "to be tried; may be repeated (default: sync and lagged(k=1) with every algorithm for sums)")
      ->type_name("SPEC")
      ->allow_extra_args(false);
  command.add_option("--samples", options->samples, "of an epoch")->type_name("N")->check(CLI::PositiveNumber);
  command.add_option("--threshold", options->threshold, "efficiency required for the second answer")
      ->capture_default_str();
  add_scenario_options(command, options->scenario);
  add_out_options(command, options->scenario, "folder for advice.txt and advice.csv");
  on_call(command, options, run_advise);
}

}  // namespace

extern const Verb advise_verb;
const Verb advise_verb{"advise", "search strategies, algorithms and ranks for the fastest epoch", declare_advise};

}  // namespace isobar::sim_cli
