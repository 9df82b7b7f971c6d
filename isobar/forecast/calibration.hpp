// Calibration: few numbers of a platform fitted to measured runs of one recipe on several numbers of ranks: how fast a
// rank computes, how fast bytes travel, what a message costs. How far forecasts are off is found leave-one-out: every
// run is forecast from a fit to the others.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isobar/forecast/forecast.hpp"

namespace isobar::forecast {

/// A run as calibration sees it.
struct MeasuredRun {
  int ranks = 1, nodes = 1;
  double batch = 1;  ///< samples of a rank in a step
  double step_seconds = 0;
  Spec strategy{};
  std::string name{};  ///< its folder
};

/// Reads the folders `isobar scale` makes, or any runs of one recipe; runs that differ in more than ranks, batch and
/// strategy, or did not finish, are an Error that names them.
std::vector<MeasuredRun> read_measured(std::span<const std::filesystem::path> folders);

/// What the numbers of a platform and the times of a workload are multiplied by.
struct Factors {
  double compute_seconds = 1;   ///< times of kernels and updates
  double bytes_per_second = 1;  ///< links, injection, within a node; cores need as much less time for them
  double message_seconds = 1;   ///< latencies and the overhead of a message
};

/// The scenario with its numbers multiplied.
sim::Scenario scaled(const sim::Scenario& scenario, const Factors& factors);

/// Forecasts the step of a run, in seconds, with these factors.
using StepModel = std::function<double(const MeasuredRun& run, const Factors& factors)>;

/// By sim::simulate of `base` on as many ranks, and nodes, as the run had.
StepModel simulated_step(const sim::Scenario& base,
                         const std::function<sim::Simulated(const sim::Scenario&)>& simulate);

struct CalibratedRun {
  MeasuredRun run{};
  double fitted = 0;    ///< seconds of a step, by the fit to all runs
  double forecast = 0;  ///< by the fit to the others; 0: there are none
};

struct Calibration {
  Factors factors{};
  int unknowns = 0;
  std::vector<CalibratedRun> runs{};
  ForecastError error{};

  /// What was fitted to what, in one paragraph.
  std::string text() const;
};

/// Fits as many factors as the runs can tell: computing always, bytes with one run that exchanges, messages with runs
/// on two numbers of ranks that do. At least one run.
Calibration calibrate(std::span<const MeasuredRun> runs, const StepModel& model);

}  // namespace isobar::forecast
