// Permutes axes with oneDNN's reorder, for transpose and depth_to_space.
#pragma once

#include <string>
#include <vector>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// The shape whose axis i is axis order[i] of x.
Shape permuted(const Shape& x, const std::vector<int>& order);

/// The order that undoes `order`.
std::vector<int> inverse_order(const std::vector<int>& order);

/// A kernel whose result has as axis i axis order[i] of x. The ports have the plain layouts of `from_port` and
/// `to_port`: any shapes with as many elements as x. It is a view if no axis longer than 1 moves.
Kernel permute_kernel(const Setting& setting, std::string name, Slot from, const Shape& from_port, const Shape& x,
                      const std::vector<int>& order, Slot to, const Shape& to_port);

}  // namespace isobar::ops
