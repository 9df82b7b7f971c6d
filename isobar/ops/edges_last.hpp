// edges_last: an operator whose input is a halo, computed in stages: first what needs no rows of other ranks, from this
// rank's own, while the halo travels; then the rows at the edges. Backward is that of the operator.
#pragma once

#include <memory>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// `op` with one more data input, after its only one: the rows `own` of axis 1 of the first. The shapes are those of
/// its inputs without this one. Null where there is nothing to gain: no row of the result reads own rows alone.
std::shared_ptr<const Operator> edges_last(std::shared_ptr<const Operator> op, Interval own, std::span<const Shape> in);

}  // namespace isobar::ops
