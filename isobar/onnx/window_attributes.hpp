// Window: the geometry of a kernel that moves over the spatial axes of [batch, channels, spatial...], shared by
// convolutions and pools.
#pragma once

#include <algorithm>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {

struct WindowAttributes {
  Dims in, kernel, stride, dilation;  ///< one entry per spatial axis
  Dims before, after;                 ///< pads
  Dims out;                           ///< number of positions of the window

  /// Calls f(offset in the input, offset in the kernel) for each input element that the window at `position` covers,
  /// without the pads; offsets are row-major.
  template <class F>
  void cover(const Dims& position, F f) const {
    const Dims in_strides = strides_of(in), kernel_strides = strides_of(kernel);
    Dims count(in.size()), steps(in.size());
    std::int64_t at = 0, tap = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const std::int64_t origin = position[i] * stride[i] - before[i];
      const std::int64_t first = origin < 0 ? (dilation[i] - 1 - origin) / dilation[i] : 0;
      const std::int64_t end = origin < in[i] ? (in[i] - origin + dilation[i] - 1) / dilation[i] : 0;
      count[i] = std::min(kernel[i], end) - first;
      if (count[i] <= 0) return;
      at += (origin + first * dilation[i]) * in_strides[i];
      tap += first * kernel_strides[i];
      // With a single tap there is no step, and the dilation may be absurd.
      steps[i] = count[i] > 1 ? dilation[i] * in_strides[i] : 0;
    }
    walk(count, std::array{steps, kernel_strides}, [&](const auto& off) { f(at + off[0], tap + off[1]); });
  }
};

/// Reads kernel_shape (unless `kernel` is given), strides, dilations, pads, auto_pad and ceil_mode for `dims`.
WindowAttributes window(const Call& call, const Dims& dims, std::optional<Dims> kernel);

/// An attribute with one entry per spatial axis, each between `least` and 2^30; if absent, all entries are `least`.
Dims window_attribute(const OnnxNode& node, const char* name, std::size_t rank, std::int64_t least);

/// The spatial axes of [batch, channels, spatial...]; throws Error if there are none.
Dims spatial(const Dims& dims);

}  // namespace isobar::onnx
