// Compares all methods for one convolution: their work, workspace and time in every direction.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/ops/tuning.hpp"
#include "isobar/tensor/shape.hpp"
#include "isobar/tune/kernel_timer.hpp"

namespace isobar::tune {

struct MethodFigures {
  std::string_view method;  ///< a row of ops::conv_methods()
  ops::Direction direction;
  bool exact;             ///< ordinary sums; false: the rounding differs
  bool usual;             ///< used if nothing was measured
  double flops, work;     ///< of the sums as written, and as actually executed
  std::size_t workspace;  ///< bytes
  double seconds;         ///< median
};

/// Every method that applies to an operator `conv(...)` with the input x, direction by direction; empty for other
/// operators.
std::vector<MethodFigures> compare_methods(const Spec& conv, const Shape& x, KernelTimer& timer);

}  // namespace isobar::tune
