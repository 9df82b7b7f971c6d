// The kind of scaling between runs: strong when the global batch stays, weak when the batch of a rank does; anything
// else is neither and must not be called scaling.
#pragma once

#include <optional>
#include <span>

#include "isobar/base/spec.hpp"
#include "isobar/report/scaling.hpp"

namespace isobar::report {

/// Ranks of a run and what they train on in one step, together.
struct Spread {
  int ranks = 1;
  std::int64_t global_batch = 0;
};

/// Nothing when the ranks are as many, or neither batch stays.
std::optional<Scaling> scaling_between(const Spread& a, const Spread& b);

/// The kind that holds between all of them; nothing when there is none.
std::optional<Scaling> scaling_of(std::span<const Spread> runs);

/// True when two recipes differ in nothing but the batch, the folder and what they report.
bool same_but_batch(const Spec& a, const Spec& b);

}  // namespace isobar::report
