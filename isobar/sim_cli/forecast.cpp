// isobar-sim forecast: how a network would run on a platform, for several numbers of ranks and strategies.
#include "isobar/forecast/forecast.hpp"

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/forecast/forecast_page.hpp"
#include "isobar/forecast/forecast_text.hpp"
#include "isobar/sim_cli/scenario_options.hpp"

namespace isobar::sim_cli {
namespace {

struct ForecastOptions {
  ScenarioOptions scenario;
  std::vector<int> ranks;
  std::vector<std::string> strategies{"sync"};
  std::string mode = "weak";
  bool no_losses = false;
};

void run_forecast(const ForecastOptions& options) {
  const Calibrated calibrated = read_calibrated(options.scenario);
  forecast::Sweep sweep{.base = calibrated.base,
                        .ranks = options.ranks,
                        .strategies = specs_of(options.strategies),
                        .modes = {forecast::Mode::weak}};
  if (options.mode == "strong") sweep.modes = {forecast::Mode::strong};
  if (options.mode == "both") sweep.modes = {forecast::Mode::weak, forecast::Mode::strong};
  auto runner = make_runner(options.scenario, !options.no_losses);
  forecast::Forecast result = forecast::forecast(sweep, runner);
  result.error = calibrated.error;
  result.calibration = calibrated.text;
  fmt::print("{}", forecast::forecast_text(result));
  if (const std::string& out = options.scenario.out; !out.empty())
    fmt::print("written to {}: {}\n", out, join(forecast::write_forecast(result, out), ", "));
}

void declare_forecast(CLI::App& command) {
  const auto options = std::make_shared<ForecastOptions>();
  command.footer(
      "Examples:\n"
      "  isobar-sim forecast --model cosmoflow_sc18 --node-gflops 535 --platform cori --ranks 1,64,1024,8192\n"
      "  isobar-sim forecast --trace runs/small --platform summit --ranks 6,96,1536 \\\n"
      "      --strategy 'sync(algorithm=ring)' --strategy 'lagged(k=1)' --out forecasts/small\n"
      "  isobar-sim forecast --calibrate runs/scale-small/weak-* --platform here --ranks 8,16");
  add_ranks_option(command, options->ranks);
  command.add_option("--strategy", options->strategies, "how ranks train together; may be repeated: 'lagged(k=1)'")
      ->type_name("SPEC")
      ->allow_extra_args(false)
      ->capture_default_str();
  command
      .add_option("--mode", options->mode,
                  "weak: a rank keeps its batch; strong: all ranks share that of the fewest ranks")
      ->check(CLI::IsMember({"weak", "strong", "both"}).description("weak|strong|both"))
      ->capture_default_str();
  add_scenario_options(command, options->scenario);
  command.add_flag("--no-losses", options->no_losses, "do not break down losses: takes about a fifth of the time");
  add_out_options(command, options->scenario, "folder for forecast.html, .txt, .csv, .json and pictures");
  on_call(command, options, run_forecast);
}

}  // namespace

extern const Verb forecast_verb;
const Verb forecast_verb{"forecast", "step time, efficiency and losses of a network on many ranks of a platform",
                         declare_forecast};

}  // namespace isobar::sim_cli
