// Stretches: kernel times combined into what a simulation replays: uninterrupted computing up to the next kernel after
// which a gradient is final.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/sim/workload.hpp"

namespace isobar::forecast {

/// Appends a kernel; it joins the last stretch unless gradients become final or messages begin or end behind that one.
void add_kernel(std::vector<sim::Stretch>& stretches, double seconds, const std::vector<int>& final_parameters = {},
                const std::optional<ops::Talk>& talk = {});

/// The space of a gradient in the memory that all gradients share: each begins on a cache line.
std::size_t gradient_room(std::int64_t numbers);

/// The same network with another batch per rank: computing time and messages within passes are proportional to the
/// samples, update time stays the same.
sim::Workload with_batch(const sim::Workload& workload, double batch);

}  // namespace isobar::forecast
