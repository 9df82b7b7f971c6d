// Plane: two axes of a sample's numbers, and how they are drawn: by a colour map, in a panel of a fitting size. Volumes
// are seen by their middle layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "isobar/files/image.hpp"
#include "isobar/report/colour_map.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::report {

/// `height` rows of `width` numbers that lie elsewhere.
struct Plane {
  const float* first = nullptr;
  std::int64_t height = 1, width = 1, row = 0, column = 0;  ///< the latter: numbers from one to the next

  float at(std::int64_t y, std::int64_t x) const { return first[y * row + x * column]; }
};

/// How numbers of a shape are seen as planes; the last axis may be channels, from three axes on.
struct Planes {
  Shape shape;
  std::int64_t height = 1, width = 1, channels = 1;
  std::int64_t begin = 0;  ///< of the middle layer of a volume

  Planes(const Shape& of, bool with_channels);
  Plane plane(std::span<const float> numbers, std::int64_t channel) const {
    return {numbers.data() + begin + channel, height, width, width * channels, channels};
  }
};

/// Values between which nearly all numbers lie: single ones far out do not make the rest dark.
std::pair<float, float> range_of(const Plane& plane);

/// Whether numbers are those of a picture, 0 to 255: shown as they are.
bool is_picture(std::span<const float> numbers, std::int64_t channels, const Shape& shape);

/// A colour as grey, under the tint of a class; class 0 has none.
Colour tinted(Colour colour, float label);

/// Where a plane is drawn: enlarged or reduced to a fitting size.
class PlanePanel {
 public:
  PlanePanel(std::int64_t rows, std::int64_t columns);

  /// Calls colour_of(row, column) of the plane for each pixel of the panel.
  template <class ColourOf>
  void draw(files::Image& sheet, std::int64_t top, std::int64_t left, const Plane& plane, ColourOf colour_of) const {
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t from_y = std::min(y * reduced_ / (enlarged_ * stretched_), plane.height - 1);
        const Colour colour = colour_of(from_y, std::min(x * reduced_ / enlarged_, plane.width - 1));
        std::ranges::copy(colour, sheet.pixels.begin() + ((top + y) * sheet.width + left + x) * 3);
      }
  }

  std::int64_t height = 1, width = 1;

 private:
  std::int64_t enlarged_ = 1, reduced_ = 1, stretched_ = 1;
};

}  // namespace isobar::report
