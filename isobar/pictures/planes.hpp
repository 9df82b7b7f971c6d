// Planes: how the numbers of a sample are seen as pictures: rows and columns of one channel, the middle layer of a
// volume.
#pragma once

#include <span>
#include <utility>

#include "isobar/tensor/shape.hpp"

namespace isobar::pictures {

/// A view of the numbers of a sample: `height` rows of `width` numbers.
struct Plane {
  const float* first = nullptr;
  std::int64_t height = 1, width = 1, row = 0, column = 0;  // the latter: numbers from one to the next

  float at(std::int64_t y, std::int64_t x) const { return first[y * row + x * column]; }
};

/// How a field is seen as planes: its last axis are channels from three axes on.
struct Planes {
  Shape shape;
  std::int64_t height = 1, width = 1, channels = 1, begin = 0;  // begin: the middle layer of a volume

  explicit Planes(const Shape& of, bool with_channels) : shape(of) {
    std::vector<std::int64_t> places = of.extents();
    if (with_channels && places.size() >= 3) {
      channels = places.back();
      places.pop_back();
    }
    std::int64_t size = channels;
    for (std::size_t left = places.size(); left > 0; --left) {
      const std::size_t from_end = places.size() - left;
      const std::int64_t extent = places[left - 1];
      if (from_end == 0) width = extent;
      else if (from_end == 1) height = extent;
      else if (from_end == 2) begin = extent / 2 * size;  // what lies further out begins at its first
      size *= extent;
    }
  }

  Plane plane(std::span<const float> numbers, std::int64_t channel) const {
    return {numbers.data() + begin + channel, height, width, width * channels, channels};
  }
};

/// Values between which nearly all numbers lie: single ones far out do not make the rest dark.
std::pair<float, float> range_of(const Plane& plane);

/// Whether numbers are those of a picture, 0 to 255: shown as they are.
bool is_picture(std::span<const float> numbers, std::int64_t channels, const Shape& shape);

}  // namespace isobar::pictures
