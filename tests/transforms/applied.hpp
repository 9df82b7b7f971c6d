// Applying one transform in tests, without a data set.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "isobar/transforms/transform.hpp"

#include "tests/datasets/samples.hpp"

namespace isobar::transforms {

using tests::error_of;
using tests::read_sample;
using tests::TemporaryFolder;

inline std::unique_ptr<Transform> made(const Spec& spec) { return make(transforms(), spec, "transform"); }

/// 0, 1, 2, ...
inline std::vector<float> counting(const Shape& shape) {
  std::vector<float> x(static_cast<std::size_t>(shape.count()));
  std::iota(x.begin(), x.end(), 0.0f);
  return x;
}

/// Field x, channels last.
inline Grid grid_of(const Shape& shape) {
  return {.name = "x", .shape = shape, .places = shape.rank() < 2 ? 0 : std::max(2, shape.rank() - 1)};
}

inline std::vector<float> applied(const Transform& transform, const Grid& grid, std::vector<float> x,
                                  const Draw& draw) {
  const Shape after = transform.infer(grid).shape;
  const Box from = Box::whole(grid.shape), to = Box::whole(after);
  if (after == grid.shape && transform.in_place()) {
    transform.apply({grid, from, to}, x, x, draw);
    return x;
  }
  std::vector<float> out(static_cast<std::size_t>(after.count()), -7.0f);
  transform.apply({grid, from, to}, x, out, draw);
  return out;
}

inline std::vector<float> applied(const Transform& transform, const Shape& shape, std::vector<float> x,
                                  const Draw& draw) {
  return applied(transform, grid_of(shape), std::move(x), draw);
}

inline std::vector<float> applied(const Spec& spec, const Shape& shape, const Draw& draw) {
  return applied(*made(spec), shape, counting(shape), draw);
}

}  // namespace isobar::transforms
