// Views: kernels without work, whose result is their input with another shape.
#pragma once

#include <string>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// `to` is the memory of `from`; both shapes have the same number of elements.
inline Kernel view(std::string name, Category category, Slot from, const Shape& from_shape, Slot to,
                   const Shape& to_shape) {
  return {std::move(name), category, {{from, plain(from_shape)}}, {{to, plain(to_shape), 0}}, 0, {}};
}

/// y0 is x0 with the shape `y`.
inline Kernel forward_view(const Shape& x, const Shape& y) {
  return view("view", Category::forward_pointwise, {Slot::Kind::x, 0}, x, {Slot::Kind::y, 0}, y);
}

/// dx of input number `index` is dy0 with the shape `x`.
inline Kernel backward_view(const Shape& y, const Shape& x, int index = 0) {
  return view("view of gradient", Category::backward_pointwise, {Slot::Kind::dy, 0}, y, {Slot::Kind::dx, index}, x);
}

}  // namespace isobar::ops
