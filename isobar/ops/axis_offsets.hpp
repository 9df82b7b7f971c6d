// Where the numbers of a blocked layout are: an offset is a sum of one term per axis, so one list per axis is enough.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

/// The offset terms of all indices of one axis.
std::vector<std::int64_t> axis_offsets(const Layout& layout, int axis);

/// All sums of one offset from each list; the last list varies fastest.
std::vector<std::int64_t> all_sums(const std::vector<std::vector<std::int64_t>>& lists);

}  // namespace isobar::ops
