// isobar-sim what-if QUANTITY: changes one quantity of a scenario, one row for each value; or failures of nodes.
#include "isobar/forecast/what_if.hpp"

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/forecast/failure_table.hpp"
#include "isobar/sim_cli/scenario_options.hpp"

namespace isobar::sim_cli {
namespace {

struct WhatIfOptions {
  ScenarioOptions scenario;
  std::string quantity, strategy = "sync";
  std::vector<std::string> values;
  int ranks = 1;
  double hours = 24;
};

std::string summaries() {
  std::string text = "Quantities:\n";
  for (const forecast::Quantity* quantity : forecast::quantities())
    text += fmt::format("  {:<10} {}\n", quantity->name, quantity->summary);
  text += "  failures   time to solution when nodes fail; values are hours between failures of a node\n";
  return text +
         "\nExample:\n  isobar-sim what-if input --model deeplabv3plus --batch 2 --platform summit --ranks 27360 \\\n"
         "      --node-gflops 211000 --sample-gflops 14410 --strategy 'lagged(k=1)'";
}

void run_what_if(const WhatIfOptions& options) {
  const bool failures = options.quantity == "failures";
  const forecast::Quantity* quantity = failures ? nullptr : &forecast::find_quantity(options.quantity);
  const Calibrated calibrated = read_calibrated(options.scenario);
  sim::Scenario base = calibrated.base;
  base.ranks = options.ranks;
  base.strategy = Spec(options.strategy);
  auto runner = make_runner(options.scenario);
  std::string text, csv;
  if (failures) {
    const forecast::FailureTable table = forecast::failure_table(base, options.hours, options.values, runner);
    text = forecast::failure_text(table), csv = forecast::failure_csv(table);
  } else {
    const forecast::WhatIf table = forecast::what_if(*quantity, base, options.values, runner);
    text = forecast::what_if_text(table), csv = forecast::what_if_csv(table);
  }
  text += "error: " + calibrated.error.text + "\n";
  fmt::print("{}", text);
  write_table(options.scenario, options.quantity, text, csv);
}

void declare_what_if(CLI::App& command) {
  const auto options = std::make_shared<WhatIfOptions>();
  command.footer(summaries());
  command.add_option("QUANTITY", options->quantity, "what changes: input, batch, lag, hierarchy, bucket, ...")
      ->required();
  command.add_option("--values", options->values, "its values, such as 1,4,16 (default: the usual ones)")
      ->delimiter(',')
      ->type_name("V,...");
  command.add_option("--ranks", options->ranks, "number of ranks")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 24).description(""))
      ->required();
  command.add_option("--strategy", options->strategy, "how ranks train together")
      ->type_name("SPEC")
      ->capture_default_str();
  command.add_option("--hours", options->hours, "of work without failures, for what-if failures")
      ->type_name("H")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_scenario_options(command, options->scenario);
  add_out_options(command, options->scenario, "folder for the table as text and CSV");
  on_call(command, options, run_what_if);
}

}  // namespace

extern const Verb what_if_verb;
const Verb what_if_verb{"what-if", "change one quantity: input, batch, lag, hierarchy, bucket, algorithm, failures",
                        declare_what_if};

}  // namespace isobar::sim_cli
