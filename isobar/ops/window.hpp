// Windows that slide over 1 to 3 spatial axes: kernel, stride, dilation and padding of convolution and pooling.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/ops/reach.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::ops {

using Extents = std::vector<std::int64_t>;

/// A window fitted to one input: one entry per spatial axis.
struct Window {
  Extents kernel, stride, dilation;  ///< dilation 1: dense
  Extents before, after;             ///< padding
  Extents overhang;                  ///< by how many elements the last window exceeds the padding; 0 unless `ceil`
  Extents out;                       ///< number of positions
  std::int64_t volume() const;       ///< elements under the window
  /// oneDNN counts dilation from 0.
  Extents gaps() const;
  /// For every position along spatial axis number `a`, what it reads of an input of that extent.
  std::vector<Interval> reads(int a, std::int64_t extent) const;
};

/// A window as a Spec gives it; one number stands for all axes.
class WindowSpec {
 public:
  /// Reads `kernel_key`, stride, dilation, padding (valid | same | n | [n, ...]) and padding_after (default: as
  /// padding). The default stride is 1, or the kernel's extent if `tiles`; then it also reads `ceil`, which adds a last
  /// window that exceeds the padding, if this window starts before the trailing padding.
  WindowSpec(Args& args, std::string_view kernel_key, bool tiles);

  /// Fits the window to a channels-last shape; throws Error if the shape does not fit or is smaller than the window.
  Window fit(const Shape& x) const;
  /// The window over what a part reads of input 0, padded only where the whole is.
  WindowSpec cropped(const Crop& crop) const;
  /// Whether a last window may exceed the padding.
  bool hangs_over() const;

 private:
  Extents kernel_, stride_, dilation_, before_, after_, overhang_{0};
  bool same_ = false, ceil_ = false;
};

/// Input 0 is read under the window along an axis, which is spatial; the others are read whole.
Reach window_reach(const Window& window, int axis, std::span<const Shape> in);

/// One value per axis from a list that has one value for all axes or one for each; throws Error for other lengths.
Extents spread(const Extents& given, int axes, std::string_view what);

/// Whether no value is below `least`.
bool all_at_least(const Extents& values, std::int64_t least);

/// Number of spatial axes of a channels-last shape (1 to 3); throws Error for other ranks.
int spatial_rank(const Shape& x);

}  // namespace isobar::ops
