// Where the numbers of a blocked layout lie: offsets are sums of one term per axis, so a list per axis says it all.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

/// The term of every index of one axis.
std::vector<std::int64_t> axis_offsets(const Layout& layout, int axis);

/// Sums of one offset from each list, the last list fastest.
std::vector<std::int64_t> all_sums(const std::vector<std::vector<std::int64_t>>& lists);

}  // namespace isobar::ops
