// isobar-sim what-if QUANTITY: changes one quantity of a scenario, one row for each value; or failures of nodes.
#include "isobar/forecast/what_if.hpp"

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/forecast/failure_table.hpp"
#include "isobar/sim_cli/calibrated.hpp"
#include "isobar/verbs/verb.hpp"

namespace isobar::sim_cli {
namespace {

struct WhatIfOptions {
  ScenarioOptions scenario;
  std::string quantity, strategy = "sync", out;
  std::vector<std::string> values, calibrate;
  int ranks = 1;
  double hours = 24;
  bool resume = false;
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
  const Calibrated calibrated = read_calibrated(options.scenario, options.calibrate);
  sim::Scenario base = calibrated.base;
  base.ranks = options.ranks;
  base.strategy = Spec(options.strategy);
  auto runner = make_runner(options.scenario, options.out, options.resume, false);
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
  if (options.out.empty()) return;
  const std::filesystem::path folder = options.out;
  disk::write_text(folder / (options.quantity + ".txt"), text);
  disk::write_text(folder / (options.quantity + ".csv"), csv);
  fmt::print("written to {0}: {1}.txt, {1}.csv\n", options.out, options.quantity);
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
  add_calibrate_option(command, options->calibrate);
  auto* out = command.add_option("--out", options->out, "folder for the table as text and CSV")->type_name("FOLDER");
  command.add_flag("--resume", options->resume, "continue with the results already in the folder")->needs(out);
  command.callback([options] {
    catch_signals_with_children();
    run_what_if(*options);
  });
}

}  // namespace

extern const Verb what_if_verb;
const Verb what_if_verb{"what-if", "change one quantity: input, batch, lag, hierarchy, bucket, algorithm, failures",
                        declare_what_if};

}  // namespace isobar::sim_cli
