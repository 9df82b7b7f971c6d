// How much of the arena is in use while each step of a plan runs; reports show it as memory over a training step.
#pragma once

#include <cstddef>
#include <vector>

#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// For every step of the plan, the bytes of the arena that hold something this or a later step needs; at most
/// arena_bytes.
IdVector<StepId, std::size_t> live_bytes(const Plan& plan);

}  // namespace isobar::graph
