// Diagnosis: where numbers that are not finite came from. The batches of the step are run again, kernel by kernel, and
// every tensor is checked; the first bad one whose inputs were good is the cause.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "isobar/datasets/dataset.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::train {

/// What one rank found.
struct Cause {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t order = none;  ///< position in the step, comparable between ranks; none: all was finite
  std::string text{};         ///< layer, tensor, samples, and what was read before
};

/// Checks the weights, the inputs, then every kernel of forward and backward. Overwrites gradients and running
/// statistics, and takes part in sums within a pass: if there are such sums, all ranks must call.
Cause find_cause(exec::Executor& executor, exec::ParamStore& store, std::span<const parallel::Feed> feeds,
                 const datasets::Dataset& dataset);

}  // namespace isobar::train
