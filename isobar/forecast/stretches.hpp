// Stretches: kernel times put together into what a simulation replays: computing without interruption, up to the next
// kernel behind which a gradient is final.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/sim/workload.hpp"

namespace isobar::forecast {

/// Adds a kernel behind those that are there; it joins the last stretch unless gradients are final behind that.
void add_kernel(std::vector<sim::Stretch>& stretches, double seconds, const std::vector<int>& final_parameters = {});

/// How long a gradient is in the memory all gradients share: every one begins on a cache line.
std::size_t gradient_room(std::int64_t numbers);

/// The same network with another batch on each rank: computing takes as much longer as there are more samples, updates
/// take what they took.
sim::Workload with_batch(const sim::Workload& workload, double batch);

}  // namespace isobar::forecast
