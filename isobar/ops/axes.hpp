// Axes as arguments name them: negative axes count from the end.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::ops {

/// The axis of x that `axis` names; throws Error if there is none.
inline int fitted_axis(std::int64_t axis, const Shape& x) {
  if (axis < -x.rank() || axis >= x.rank())
    fail("axis = {} is not an axis of x = {}; valid: {} to {}", axis, x.str(), -x.rank(), x.rank() - 1);
  return axis < 0 ? axis + x.rank() : axis;
}

/// For every axis of x, whether `axes` names it; naming an axis twice is an Error.
inline std::vector<bool> chosen_axes(const std::vector<std::int64_t>& axes, const Shape& x) {
  std::vector<bool> chosen(x.rank());
  for (const std::int64_t axis : axes) {
    const std::size_t fitted = fitted_axis(axis, x);
    if (chosen[fitted]) fail("axis {} of x = {} is named twice", fitted, x.str());
    chosen[fitted] = true;
  }
  return chosen;
}

}  // namespace isobar::ops
