// --calibrate RUN...: shared by verbs that fit a platform to measured runs before they simulate.
#pragma once

#include <string>

#include "isobar/forecast/calibration.hpp"
#include "isobar/sim_cli/scenario_options.hpp"

namespace isobar::sim_cli {

/// A scenario, fitted if runs were given.
struct Calibrated {
  sim::Scenario base{};
  forecast::ForecastError error{};
  std::string text{};  ///< what was fitted; empty: nothing
};

/// Reads the scenario and fits it. Without --model and --trace, the workload is that of the run on the fewest ranks,
/// with times as measured.
Calibrated read_calibrated(ScenarioOptions options);

}  // namespace isobar::sim_cli
