// Scaling: runs of one recipe on different numbers of ranks, side by side, read from their folders. It always says
// whether the scaling is strong (constant global batch) or weak (constant batch per rank).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/report/curves.hpp"

namespace isobar::report {

enum class Scaling { strong, weak };

/// One run of a study. Times are medians over the steps, without the first few, which warm up.
struct ScalingRun {
  int ranks = 1, threads = 1;
  std::int64_t global_batch = 0, steps = 0;
  double step_seconds = 0;
  double samples_per_second = 0;
  double exposed_seconds = 0;  ///< per step, that a rank waited for the others
  double hidden_seconds = 0;   ///< per step, of exchange while the rank computed
  double bytes_per_step = 0;   ///< sent by a rank
  double waiting_seconds = 0;  ///< per step, for input
  double loss = 0;             ///< after as many samples as the shortest run of the study used
  double efficiency = 1;       ///< relative to the first run
  std::filesystem::path folder{};
};

/// Reads the runs of a study from their folders, in order, and compares them with the first; a folder without a
/// finished run is an Error.
std::vector<ScalingRun> read_scaling(std::span<const std::filesystem::path> folders, Scaling kind);

/// Speed, efficiency and communication over ranks.
std::vector<Panel> scaling_panels(std::span<const ScalingRun> runs, Scaling kind);

/// The study as a table for the terminal, as CSV, and as a picture.
std::string scaling_table(std::span<const ScalingRun> runs, Scaling kind);
std::string scaling_csv(std::span<const ScalingRun> runs, Scaling kind);
std::string scaling_svg(std::span<const ScalingRun> runs, Scaling kind);

// The kind of scaling between runs: strong if the global batch is constant, weak if the batch per rank is; anything
// else is neither and must not be called scaling.

/// The ranks of a run and their global batch.
struct Spread {
  int ranks = 1;
  std::int64_t global_batch = 0;
};

/// Nothing if the numbers of ranks are equal, or neither batch is constant.
std::optional<Scaling> scaling_between(const Spread& a, const Spread& b);

/// The kind that holds between all runs, if there is one.
std::optional<Scaling> scaling_of(std::span<const Spread> runs);

/// True if two recipes differ only in the batch, the folder and reporting.
bool same_but_batch(const Spec& a, const Spec& b);

}  // namespace isobar::report
