// The sums of a weight gradient by tiles: dw[k][c][o] = sum over pixels p of x[p * stride + k * dilation - before][c] *
// dz[p][o]. Pixels are processed in blocks of a few rows. For each block, dz is packed into panels of 32 outputs that
// stay in the cache; then, for every tap and every 14 channels, the tiles of all panels are updated: x is read in
// place, once for all panels. With few channels, the taps of a row of the window count as one tap with more channels,
// and x is first copied with its padding. Each tile belongs to one thread, and small gradients are summed in a fixed
// number of parts, so the result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

/// The convolution; its spatial axes are d, h, w, and missing leading axes have extent 1.
struct WindowExtents {
  std::int64_t batch = 1, channels = 1, outputs = 1;
  std::int64_t in[3]{1, 1, 1}, out[3]{1, 1, 1}, kernel[3]{1, 1, 1}, stride[3]{1, 1, 1}, dilation[3]{1, 1, 1};
  std::int64_t before[3]{0, 0, 0};
  std::int64_t x_pitch = 0, y_pitch = 0;  ///< distance of pixels if they are part of more channels; 0: dense
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

class WeightSums {
 public:
  /// `dw` is the gradient's layout, with axes O, C, kernel...; see fits().
  WeightSums(const WindowExtents& extents, const Layout& dw);

  /// Whether sums can be written in this layout: 16 outputs are side by side.
  static bool fits(const Layout& dw);

  /// How many floats of scratch memory `threads` threads need.
  std::int64_t scratch(int threads) const;

  /// Writes dw and, unless null, db, with up to `threads` threads.
  void run(int threads, const float* x, const float* dz, float* scratch, float* dw, float* db) const;

 private:
  struct Block;   // of pixels
  struct Share;   // of one thread
  struct Target;  // receives the sums of a part

  std::int64_t panels() const { return (e_.outputs + 31) / 32; }
  std::int64_t units() const;
  std::int64_t blocks() const { return row_blocks_ * column_blocks_; }
  std::int64_t panel_numbers() const;
  std::int64_t copy_numbers() const;
  Block block(std::int64_t number) const;
  Share share(int thread, int threads) const;
  void add_block(const Block& block, const Share& share, Target& target) const;
  void pack_outputs(const Block& block, std::int64_t first, std::int64_t last, const Share& share,
                    const Target& target) const;
  struct Rows;
  void gather_rows(const Block& block, std::int64_t tap, const Target& target, Rows& rows) const;
  std::int64_t copy_row(const Block& block, const float* row, float* to) const;

  WindowExtents e_;
  std::int64_t x_pitch_, y_pitch_;
  std::int64_t weights_;  // numbers of dw, padding included
  bool padded_;
  bool merged_;  // the taps of a row of the window are one
  bool inside_;  // no window reaches beyond x along w
  std::int64_t row_blocks_, column_blocks_, rows_, columns_, parts_;
  std::vector<std::int64_t> row_offsets_;     // of (tap, channel)
  std::vector<std::int64_t> output_offsets_;  // of every 16th output
};

}  // namespace isobar::ops
