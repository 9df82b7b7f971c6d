// The columns of a convolution: for every output position the numbers under its window, [positions, taps * C], with
// zeros for padding, so that the convolution is a matrix product; and back, the sum of all columns at every input.
#pragma once

#include <cstdint>

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

class ConvColumns {
 public:
  explicit ConvColumns(const ConvCase& problem);

  std::int64_t rows() const { return batch_ * out_[0] * out_[1] * out_[2]; }
  std::int64_t taps() const { return kernel_[0] * kernel_[1] * kernel_[2]; }
  /// Whether the columns of one group are x itself.
  bool trivial() const;

  /// Columns of `width` channels, starting at `first`: columns[rows, taps * width].
  void fill(const float* x, std::int64_t first, std::int64_t width, float* columns) const;
  /// dx of these channels = the sum of all column entries that were copied from there.
  void gather(const float* columns, std::int64_t first, std::int64_t width, float* dx) const;

 private:
  std::int64_t batch_, channels_;
  std::int64_t in_[3]{1, 1, 1}, out_[3]{1, 1, 1}, kernel_[3]{1, 1, 1}, stride_[3]{1, 1, 1}, dilation_[3]{1, 1, 1},
      before_[3]{0, 0, 0};
};

}  // namespace isobar::ops
