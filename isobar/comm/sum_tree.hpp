// The arithmetic of sums within a node: several ranks' numbers added straight from where they lie. The order is a
// balanced binary tree over the parts, (0 + 1) + (2 + 3), so that every slice, size and way to sum gives the same bits.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

/// Puts parts[0][i] + parts[1][i] + ... for all i < count into all `results`; a result may be one of the parts, from
/// its first number on, and otherwise overlaps none.
void sum_tree(std::span<const float* const> parts, std::span<float* const> results, std::size_t count);

/// Slice `index` of a range cut into `slices`, at cache lines of memory that begins at one: no two ranks write one
/// line.
Range slice_of(Range range, int slices, int index);

}  // namespace isobar::comm
