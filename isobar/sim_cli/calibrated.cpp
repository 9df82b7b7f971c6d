#include "isobar/sim_cli/calibrated.hpp"

#include <algorithm>
#include <filesystem>

namespace isobar::sim_cli {

Calibrated read_calibrated(ScenarioOptions options) {
  if (options.calibrate.empty()) return {.base = read_scenario(options)};
  const std::vector<std::filesystem::path> folders(options.calibrate.begin(), options.calibrate.end());
  const std::vector<forecast::MeasuredRun> measured = forecast::read_measured(folders);
  if (options.model.empty() && options.trace.empty())
    options.trace = std::ranges::min_element(measured, {}, &forecast::MeasuredRun::ranks)->name;
  if (!options.trace.empty() && options.trace_gflops == 0) options.as_measured = true;
  Calibrated result{.base = read_scenario(options)};
  sim::Scenario few = result.base;  // a fit needs many simulations with few ranks; a few steps of each are enough
  few.steps = std::min(few.steps, 8);
  if (!options.quiet) fmt::print(stderr, "fitting the platform to {} runs\n", measured.size());
  const forecast::Calibration fit =
      forecast::calibrate(measured, forecast::simulated_step(few, [](const sim::Scenario& scenario) {
                            if (stop_requested()) throw forecast::Stopped("stopped while the platform was fitted");
                            return forecast::simulate_scenario(scenario, false);
                          }));
  result.base = forecast::scaled(result.base, fit.factors);
  result.base.workload.origin += "; fitted to measured runs";
  result.error = fit.error;
  result.text = fit.text();
  return result;
}

}  // namespace isobar::sim_cli
