// What MLPerf HPC wants to know of a recipe: the benchmark it is, its target, and hyper-parameters under their keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// A benchmark: how its quality is told, and what is good enough.
struct MlperfBenchmark {
  std::string name{};    ///< of the benchmark; of the network where there is none
  std::string metric{};  ///< of Isobar that is its quality; empty: none is defined
  std::string key{};     ///< under which it is logged
  double target = 0;
  bool smaller_is_better = false;

  bool reached(double value) const { return smaller_is_better ? value > 0 && value <= target : value >= target; }
};

/// The benchmark of a recipe; a UsageError when its metric is not evaluated.
MlperfBenchmark mlperf_benchmark(const Spec& recipe);

/// Keys and values of the hyper-parameters, in the order to log them.
std::vector<std::pair<std::string, nlohmann::ordered_json>> mlperf_parameters(const train::Start& start);

}  // namespace isobar::record
