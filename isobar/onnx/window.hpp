// Window: the geometry of a kernel that moves over the spatial axes of [batch, channels, spatial...]: what convolutions
// and pools have in common.
#pragma once

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {

struct Window {
  Dims in, kernel, stride, dilation;  ///< one entry per spatial axis
  Dims before, after;                 ///< pads
  Dims out;                           ///< how many positions the window takes

  /// Calls f(place in the input, place in the kernel) for what the window at `position` covers of the input, without
  /// the pads; places are row-major offsets.
  template <class F>
  void cover(const Dims& position, F f) const {
    const Dims in_strides = strides_of(in);
    std::int64_t k = 0;
    for_each_index(kernel, [&](const Dims& tap) {
      std::int64_t at = 0;
      bool inside = true;
      for (std::size_t i = 0; i < tap.size(); ++i) {
        const std::int64_t x = position[i] * stride[i] - before[i] + tap[i] * dilation[i];
        inside = inside && x >= 0 && x < in[i];
        if (inside) at += x * in_strides[i];
      }
      if (inside) f(at, k);
      ++k;
    });
  }
};

/// Attributes kernel_shape (unless `kernel` is given), strides, dilations, pads, auto_pad and ceil_mode over `dims`.
Window window(const Call& call, const Dims& dims, std::optional<Dims> kernel);

/// An attribute with one entry per spatial axis, each between `least` and 2^30; all 1 or 0, as `least`, when absent.
Dims window_attribute(const Node& node, const char* name, std::size_t rank, std::int64_t least);

/// The spatial axes of [batch, channels, spatial...]; throws Error when there are none.
Dims spatial(const Dims& dims);

}  // namespace isobar::onnx
