// Forecast: what a network would do on a platform, for several numbers of ranks and several strategies. Weak scaling
// keeps the batch of a rank and is measured against one rank; strong scaling keeps the batch of all and is measured
// against the fewest ranks. It always says how far it may be off, or that nobody knows.
#pragma once

#include <string>
#include <vector>

#include "isobar/forecast/scenario_runner.hpp"

namespace isobar::forecast {

enum class Mode { weak, strong };
const char* mode_name(Mode mode);

/// What to simulate.
struct Sweep {
  /// Platform, workload of a rank, input and the like; ranks and strategy are set from the lists.
  sim::Scenario base{};
  std::vector<int> ranks{};
  std::vector<Spec> strategies{};
  std::vector<Mode> modes{Mode::weak};
};

struct ForecastRow {
  Mode mode = Mode::weak;
  Spec strategy{};
  int ranks = 1;
  double batch = 1;  ///< samples of a rank in a step; in strong scaling a mean
  sim::Simulated simulated{};
  double samples_per_second = 0;
  double efficiency = 1;
  double flops_per_second = 0;  ///< of all ranks, sustained
};

/// How far forecasts were off where runs were measured.
struct ForecastError {
  int runs = 0;                ///< forecast from the others and compared; 0: the error is not known
  double mean = 0, worst = 0;  ///< of |forecast / measured - 1|
  std::string text = "uncalibrated: no measured runs were given (--calibrate), so its error is not known";
};

struct Forecast {
  Sweep sweep{};
  std::vector<ForecastRow> rows{};   ///< by mode, then strategy, then ranks
  std::vector<std::string> notes{};  ///< what was left out, and why
  ForecastError error{};
  std::string calibration{};  ///< what was fitted; empty: nothing
};

/// Simulates all of it. Impossible numbers are a UsageError; ranks that would have less than one sample are left out,
/// and a note says so.
Forecast forecast(const Sweep& sweep, ScenarioRunner& runner);

/// The scenario of one row.
sim::Scenario scenario_of(const Sweep& sweep, Mode mode, const Spec& strategy, int ranks);

}  // namespace isobar::forecast
