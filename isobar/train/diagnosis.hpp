// Diagnosis: where numbers that are not finite came from. The batches of the step are run again, kernel by kernel, with
// a look at every tensor; the first bad one whose inputs were good is the cause.
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
  std::int64_t order = none;  ///< how early in the step it is, comparable between ranks; none: all was finite
  std::string text{};         ///< layer, tensor, samples, and what was read before
};

/// Looks at the weights, at the inputs, then at every kernel of forward and backward: overwrites gradients and running
/// statistics, and takes part in sums within a pass, so where those are all ranks must call.
Cause find_cause(exec::Executor& executor, exec::ParamStore& store, std::span<const parallel::Feed> feeds,
                 const datasets::Dataset& dataset);

}  // namespace isobar::train
