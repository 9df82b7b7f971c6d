// Forecast: how a network would run on a platform, for several numbers of ranks and several strategies. Weak scaling
// keeps the batch per rank, or per replica of a model that is cut, and is relative to one; strong scaling keeps the
// global batch and is relative to the fewest ranks. It always states its error, or that the error is unknown.
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
  double batch = 1;  ///< samples per replica and step; a mean in strong scaling
  sim::Simulated simulated{};
  double samples_per_second = 0;
  double efficiency = 1;
  double flops_per_second = 0;  ///< of all ranks, sustained
};

/// The error of forecasts, compared with measured runs.
struct ForecastError {
  int runs = 0;                ///< forecast from the others and compared; 0: the error is unknown
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

/// Simulates the whole sweep. Throws UsageError for impossible numbers; numbers of ranks that leave less than one
/// sample per rank are skipped with a note.
Forecast forecast(const Sweep& sweep, ScenarioRunner& runner);

/// How a rank, or a replica, trains with which others are compared: by this strategy, or by sync if that is none for
/// it.
Spec strategy_alone(const sim::Scenario& alone, const Spec& strategy);

/// Of what a strategy says came of a simulation: without who did how much, which is of no interest where nobody did it.
std::string without_shares(const std::string& summary);

/// The scenario of one row; a strategy of which that cannot be is a UsageError.
sim::Scenario scenario_of(const Sweep& sweep, Mode mode, const Spec& strategy, int ranks);

}  // namespace isobar::forecast
