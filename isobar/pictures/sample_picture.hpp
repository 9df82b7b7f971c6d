// SamplePicture: draws the input of a sample, also beneath masks and boxes. Pictures are shown unchanged, other fields
// by one channel: precipitable water in climate states, otherwise the first. Climate states begin in the south, so they
// are flipped to put north up. Large fields are reduced, volumes are shown by their middle layer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isobar/files/image.hpp"
#include "isobar/pictures/colour_map.hpp"
#include "isobar/pictures/planes.hpp"

namespace isobar::pictures {

class SamplePicture {
 public:
  /// `x` is the shape of the field; no edge of the picture exceeds `most_edge` pixels.
  SamplePicture(const Shape& x, const std::vector<std::string>& channels, std::int64_t most_edge);

  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }
  /// How many points of the field become one pixel, along each axis.
  std::int64_t reduced() const { return reduced_; }
  bool turned() const { return turned_; }
  /// The channel shown, for captions: "TMQ", "channel 0 of 4", or "" where there is only one choice.
  std::string shown() const;

  /// In colours.
  files::Image colours(std::span<const float> numbers) const;
  /// In light greys, as a background for colours.
  files::Image greys(std::span<const float> numbers) const;
  /// The class of every pixel, from the classes of all points of the field.
  std::vector<std::uint16_t> classes(std::span<const std::uint16_t> places) const;

 private:
  enum class Kind { colours, grey, red_green_blue };

  template <class PixelOf>
  files::Image drawn(PixelOf pixel_of) const;
  float mean(const Plane& plane, std::int64_t row, std::int64_t column) const;
  std::vector<float> brightness(std::span<const float> numbers, std::int64_t channel) const;

  Planes planes_;
  Kind kind_ = Kind::colours;
  std::int64_t channel_ = 0, height_, width_, reduced_ = 1;
  bool turned_ = false;
  std::string name_;
};

/// Tints the pixels of every class except 0 in its colour.
void tint(files::Image& image, std::span<const std::uint16_t> classes, float part);

}  // namespace isobar::pictures
