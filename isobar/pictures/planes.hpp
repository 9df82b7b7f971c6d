// Planes: the numbers of a sample viewed as pictures: rows and columns of one channel, the middle layer of a volume.
#pragma once

#include <span>
#include <utility>

#include "isobar/tensor/shape.hpp"

namespace isobar::pictures {

/// A view of the numbers of a sample: `height` rows of `width` numbers.
struct Plane {
  const float* first = nullptr;
  std::int64_t height = 1, width = 1, row = 0, column = 0;  // row, column: strides in numbers

  float at(std::int64_t y, std::int64_t x) const { return first[y * row + x * column]; }
};

/// A field viewed as planes; with three or more axes, the last one is channels.
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
      else if (from_end == 2) begin = extent / 2 * size;  // outer axes: their first element
      size *= extent;
    }
  }

  Plane plane(std::span<const float> numbers, std::int64_t channel) const {
    return {numbers.data() + begin + channel, height, width, width * channels, channels};
  }
};

/// The range of nearly all numbers; outliers are ignored so that they do not make the rest dark.
std::pair<float, float> range_of(const Plane& plane);

/// Whether the numbers are pixel values, 0 to 255, to be shown unchanged.
bool is_picture(std::span<const float> numbers, std::int64_t channels, const Shape& shape);

}  // namespace isobar::pictures
