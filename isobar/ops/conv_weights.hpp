// Weight gradients by our own tiles (weight_sums.hpp) as kernels: of convolutions of any kernel, stride, dilation and
// padding, of transposed convolutions with the tensors exchanged, and of dense layers. If the stored layout of the
// weight has 16 outputs side by side, as oneDNN's fast forward kernels want it, the gradient is written in that layout;
// oneDNN's own weight gradients would have to be copied into it.
#pragma once

#include <optional>

#include "isobar/ops/op.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// A weight gradient: x [N, spatial..., C] and dz [N, spatial..., O], and the slots they are read from.
struct TiledGradient {
  Window window;
  Shape x, y;
  Slot from_x, from_dz;
  Layout stored;  ///< of the weight, axes O, C, kernel..., preceded by groups if there are several
  bool bias;      ///< also writes the gradient of input 2
  int temporary;  ///< number of the scratchpad
  double flops;
  std::int64_t groups = 1;
};

/// A kernel that writes dx of input 1 and, if `bias`, of input 2; nothing if groups are not contiguous in memory.
std::optional<Kernel> tiled_weight_gradient(const TiledGradient& p);

}  // namespace isobar::ops
