// Calibration: fits a few numbers of a platform to measured runs of one recipe on several numbers of ranks: how fast a
// rank computes, how fast bytes travel, what a message costs. The error of forecasts is estimated leave-one-out: every
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
  double batch = 1;  ///< samples per rank and step
  double step_seconds = 0;
  Spec strategy{};
  std::string name{};  ///< its folder
};

/// Reads the folders that `isobar scale` makes, or any runs of one recipe; throws Error that names the runs if they
/// differ in more than ranks, batch and strategy, or did not finish.
std::vector<MeasuredRun> read_measured(std::span<const std::filesystem::path> folders);

/// Factors for the numbers of a platform and the times of a workload.
struct Factors {
  double compute_seconds = 1;   ///< times of kernels and updates
  double bytes_per_second = 1;  ///< of links, injection and within a node; time of cores shrinks accordingly
  double message_seconds = 1;   ///< latencies and the overhead per message
};

/// The scenario with its numbers multiplied by the factors.
sim::Scenario scaled(const sim::Scenario& scenario, const Factors& factors);

/// Forecasts the step of a run, in seconds, with these factors.
using StepModel = std::function<double(const MeasuredRun& run, const Factors& factors)>;

/// Simulates `base` on as many ranks and nodes as the run had.
StepModel simulated_step(const sim::Scenario& base,
                         const std::function<sim::Simulated(const sim::Scenario&)>& simulate);

struct CalibratedRun {
  MeasuredRun run{};
  double fitted = 0;    ///< seconds per step, from the fit to all runs
  double forecast = 0;  ///< from the fit to the others; 0: there are none
};

struct Calibration {
  Factors factors{};
  int unknowns = 0;
  std::vector<CalibratedRun> runs{};
  ForecastError error{};

  /// What was fitted to what, in one paragraph.
  std::string text() const;
};

/// Fits as many factors as the runs determine: computing always, bytes with one run that exchanges, messages with such
/// runs on two numbers of ranks. Needs at least one run.
Calibration calibrate(std::span<const MeasuredRun> runs, const StepModel& model);

}  // namespace isobar::forecast
