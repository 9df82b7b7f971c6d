// The arithmetic of sums within a node: adds the numbers of several ranks directly from their memory. The order is a
// balanced binary tree over the parts, (0 + 1) + (2 + 3), so that every slice, size and way to sum gives the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

/// Stores parts[0][i] + parts[1][i] + ... for all i < count in all `results`; a result may coincide exactly with one of
/// the parts, and otherwise must not overlap any.
void sum_tree(std::span<const float* const> parts, std::span<float* const> results, std::size_t count);

/// Slice `index` of a range cut into `slices` at cache lines, so that no two ranks write the same line; the memory must
/// begin at a cache line.
Range slice_of(Range range, int slices, int index);

}  // namespace isobar::comm
