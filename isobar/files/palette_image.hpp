// Pictures with at most 256 colours as PNG files, and several of them as one animation (APNG: readers without support
// for animations show the first frame). libpng compresses; an animation is assembled from its chunks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace isobar::files {

/// Red, green and blue.
using Colour = std::array<std::uint8_t, 3>;

/// One byte per pixel: the index of its colour.
struct PaletteImage {
  std::int64_t height = 0, width = 0;
  std::vector<Colour> colours{};
  std::vector<std::uint8_t> pixels{};  ///< [height, width]
};

/// The bytes of a PNG file.
std::vector<std::uint8_t> encode_png(const PaletteImage& image);

/// The bytes of a PNG file that shows frames of one size and one palette one after the other, forever.
std::vector<std::uint8_t> encode_animation(std::span<const PaletteImage> frames, int milliseconds);

}  // namespace isobar::files
