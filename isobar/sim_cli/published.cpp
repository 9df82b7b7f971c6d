// isobar-sim published: forecasts of published results, with the unchanged platforms, and their errors.
#include "isobar/forecast/published.hpp"

#include <fmt/format.h>

#include "isobar/sim_cli/scenario_options.hpp"

namespace isobar::sim_cli {
namespace {

struct PublishedOptions {
  ScenarioOptions scenario;  // only its output and progress
  std::string match;
};

void run_published(const PublishedOptions& options) {
  auto runner = make_runner(options.scenario);
  const auto rows = forecast::forecast_published(options.match, runner);
  const std::string text = forecast::published_text(rows);
  fmt::print("{}", text);
  write_table(options.scenario, "published", text, forecast::published_csv(rows));
}

void declare_published(CLI::App& command) {
  const auto options = std::make_shared<PublishedOptions>();
  command.add_option("--match", options->match, "only rows whose system or network has this in its name")
      ->type_name("TEXT");
  add_out_options(command, options->scenario, "folder for published.txt and published.csv");
  command.add_flag("--quiet", options->scenario.quiet, "show no progress");
  on_call(command, options, run_published);
}

}  // namespace

extern const Verb published_verb;
const Verb published_verb{"published", "compare published results with forecasts", declare_published};

}  // namespace isobar::sim_cli
