// isobar-sim advise: which strategy, which algorithm for sums and how many ranks to use.
#include "isobar/forecast/advise.hpp"

#include <fmt/format.h>

#include "isobar/disk/text_file.hpp"
#include "isobar/sim_cli/calibrated.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::sim_cli {
namespace {

struct AdviseOptions {
  ScenarioOptions scenario;
  std::vector<int> ranks;
  std::vector<std::string> strategies, calibrate;
  double samples = 0, threshold = 0.8;
  std::string out;
  bool resume = false;
};

void run_advise(const AdviseOptions& options) {
  const Calibrated calibrated = read_calibrated(options.scenario, options.calibrate);
  auto runner = make_runner(options.scenario, options.out, options.resume, false);
  const forecast::Advice advice = forecast::advise(
      {.sweep = {.base = calibrated.base, .ranks = options.ranks, .strategies = specs_of(options.strategies)},
       .epoch_samples = options.samples,
       .threshold = options.threshold},
      runner);
  const std::string text = forecast::advice_text(advice, calibrated.error);
  fmt::print("{}{}{}", calibrated.text, calibrated.text.empty() ? "" : "\n", text);
  if (options.out.empty()) return;
  const std::filesystem::path folder = options.out;
  disk::write_text(folder / "advice.txt", text);
  disk::write_text(folder / "advice.csv", forecast::advice_csv(advice));
  fmt::print("written to {}: advice.txt, advice.csv\n", options.out);
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
  add_calibrate_option(command, options->calibrate);
  auto* out = command.add_option("--out", options->out, "folder for advice.txt and advice.csv")->type_name("FOLDER");
  command.add_flag("--resume", options->resume, "continue with the results already in the folder")->needs(out);
  command.callback([options] {
    catch_signals_with_children();
    run_advise(*options);
  });
}

}  // namespace

extern const Verb advise_verb;
const Verb advise_verb{"advise", "search strategies, algorithms and ranks for the fastest epoch", declare_advise};

}  // namespace isobar::sim_cli
