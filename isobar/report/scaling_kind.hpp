// The kind of scaling between runs: strong if the global batch is constant, weak if the batch per rank is; anything
// else is neither and must not be called scaling.
#pragma once

#include <optional>
#include <span>

#include "isobar/base/spec.hpp"
#include "isobar/report/scaling.hpp"

namespace isobar::report {

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
