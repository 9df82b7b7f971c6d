// How much of the arena is in use while each step of a plan runs: memory over a step, as reports show it.
#pragma once

#include <cstddef>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// For every step of the plan the bytes of the arena that hold something it or a later step needs; never above
/// arena_bytes.
IdVector<StepId, std::size_t> live_bytes(const Plan& plan);

}  // namespace isobar::graph
