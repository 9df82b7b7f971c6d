// ImageWalk: an image cut into overlapping tiles, and results in tiles that do not overlap. Reads and writes tiles,
// sixteen channels at a time, with zeros beyond the border.
#pragma once

#include <algorithm>
#include <cstdint>

#include "isobar/ops/conv_tiles.hpp"

namespace isobar::ops {

/// Sixteen numbers at `from`, or the first `count` of them and zeros.
[[gnu::always_inline]] inline Lanes load_lanes(const float* from, std::int64_t count) {
  Lanes v{};
  if (count >= image_lanes) __builtin_memcpy(&v, from, sizeof v);
  else __builtin_memcpy(&v, from, count * sizeof(float));
  return v;
}

inline void store_lanes(const Lanes& v, float* to, std::int64_t count) {
  if (count >= image_lanes) __builtin_memcpy(to, &v, sizeof v);
  else __builtin_memcpy(to, &v, count * sizeof(float));
}

/// One tensor [N, height, width, channels].
struct TilePlane {
  std::int64_t height, width, channels;
};

struct ImageWalk {
  std::int64_t batch;
  TilePlane image, results;
  std::int64_t before[2];  ///< padding
  std::int64_t edge;       ///< of the results of a tile
  std::int64_t tile;       ///< edge of a tile of the image

  std::int64_t down() const { return (results.height + edge - 1) / edge; }
  std::int64_t across() const { return (results.width + edge - 1) / edge; }
  std::int64_t tiles() const { return batch * down() * across(); }

  /// Reads channels [first, first + count) of a tile of the image.
  void read_image(const float* x, std::int64_t number, std::int64_t first, std::int64_t count, Lanes* to) const {
    const Place at = place(number);
    read(x, image, at.n, at.i * edge - before[0], at.j * edge - before[1], tile, first, count, to);
  }
  /// Reads a tile of the results.
  void read_results(const float* y, std::int64_t number, std::int64_t first, std::int64_t count, Lanes* to) const {
    const Place at = place(number);
    read(y, results, at.n, at.i * edge, at.j * edge, edge, first, count, to);
  }
  void write_results(float* y, std::int64_t number, std::int64_t first, std::int64_t count, const Lanes* from) const {
    const Place at = place(number);
    for (std::int64_t r = 0; r < edge && at.i * edge + r < results.height; ++r)
      for (std::int64_t c = 0; c < edge && at.j * edge + c < results.width; ++c)
        store_lanes(
            from[r * edge + c],
            y + ((at.n * results.height + at.i * edge + r) * results.width + at.j * edge + c) * results.channels +
                first,
            count);
  }

 private:
  struct Place {
    std::int64_t n, i, j;
  };
  Place place(std::int64_t number) const {
    return {number / (down() * across()), number / across() % down(), number % across()};
  }
  static void read(const float* from, const TilePlane& plane, std::int64_t n, std::int64_t top, std::int64_t left,
                   std::int64_t size, std::int64_t first, std::int64_t count, Lanes* to) {
    for (std::int64_t r = top; r < top + size; ++r)
      for (std::int64_t c = left; c < left + size; ++c, ++to)
        *to = r < 0 || r >= plane.height || c < 0 || c >= plane.width
                  ? Lanes{}
                  : load_lanes(from + ((n * plane.height + r) * plane.width + c) * plane.channels + first, count);
  }
};

}  // namespace isobar::ops
