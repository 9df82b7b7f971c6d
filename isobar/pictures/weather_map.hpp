// Maps of an atmosphere: precipitable water from dry brown through white to deep blue, coasts as thin lines, tropical
// cyclones outlined in red and atmospheric rivers in yellow. North is up, the date line in the middle.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/files/palette_image.hpp"
#include "isobar/worlds/land.hpp"

namespace isobar::pictures {

/// Draws maps of one grid and holds what all frames share.
class WeatherMap {
 public:
  /// `width` pixels wide and half as high.
  WeatherMap(const worlds::SphereGrid& grid, int width);

  /// A state of height x width x 16 numbers and the class of every point.
  files::PaletteImage draw(std::span<const float> state, std::span<const std::uint8_t> labels) const;

  int width() const { return width_; }
  int height() const { return height_; }

 private:
  worlds::SphereGrid grid_;
  int width_, height_;
  std::vector<std::uint8_t> coast_;
};

}  // namespace isobar::pictures
