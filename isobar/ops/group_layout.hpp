// The weights of one group of a grouped convolution, as a kernel for one group sees them.
#pragma once

#include <optional>

#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

/// The layout of one group, axes O/groups, C/groups, kernel..., of weights whose first axis are the groups; nothing if
/// groups are not contiguous in memory.
std::optional<Layout> group_layout(const Layout& grouped);

}  // namespace isobar::ops
