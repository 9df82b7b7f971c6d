// The weights of one group of a convolution with groups: what a kernel for one group sees of them.
#pragma once

#include <optional>

#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

/// The layout of one group, axes O/groups, C/groups, kernel..., of weights whose first axis are groups that follow each
/// other in memory; nothing for layouts in which they do not.
std::optional<Layout> group_layout(const Layout& grouped);

}  // namespace isobar::ops
