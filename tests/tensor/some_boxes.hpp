// Boxes of a shape for tests: slabs along every axis, single places, and some anywhere.
#pragma once

#include <algorithm>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::tests {

/// The same boxes for the same shape and seed; none is empty, the first is all of it.
inline std::vector<Box> some_boxes(const Shape& shape, std::uint64_t seed = 1, int anywhere = 6) {
  std::vector<Box> boxes{Box::whole(shape)};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t extent = shape[axis], half = (extent + 1) / 2;
    boxes.push_back(boxes[0].with(axis, 0, half));
    boxes.push_back(boxes[0].with(axis, extent - half, half));
    boxes.push_back(boxes[0].with(axis, extent / 3, 1));
  }
  const Random random(seed);
  for (int i = 0; i < anywhere; ++i) {
    Box box = boxes[0];
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const Random draw = random.sub(static_cast<std::uint64_t>(16 * i + axis));
      const auto limit = static_cast<std::uint64_t>(shape[axis]);
      const auto a = static_cast<std::int64_t>(draw.below(0, limit)),
                 b = static_cast<std::int64_t>(draw.below(1, limit));
      box = box.with(axis, std::min(a, b), std::abs(a - b) + 1);
    }
    boxes.push_back(box);
  }
  return boxes;
}

}  // namespace isobar::tests
