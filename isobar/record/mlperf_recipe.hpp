// What MLPerf HPC needs from a recipe: the benchmark, its target, and hyper-parameters under their keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// A benchmark: its measure of quality and its target.
struct MlperfBenchmark {
  std::string name{};    ///< of the benchmark, or of the network if there is none
  std::string metric{};  ///< Isobar's metric for its quality; empty: none is defined
  std::string key{};     ///< under which the quality is logged
  double target = 0;
  bool smaller_is_better = false;

  bool reached(double value) const { return smaller_is_better ? value > 0 && value <= target : value >= target; }
};

/// The benchmark of a recipe; throws UsageError if its metric is not evaluated.
MlperfBenchmark mlperf_benchmark(const Spec& recipe);

/// Keys and values of the hyper-parameters, in the order to log them.
std::vector<std::pair<std::string, nlohmann::ordered_json>> mlperf_parameters(const train::Start& start);

}  // namespace isobar::record
