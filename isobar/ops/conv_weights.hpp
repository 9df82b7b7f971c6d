// Weight gradients by our own tiles (weight_sums.hpp) as kernels: of convolutions of any kernel, stride, dilation and
// padding, of transposed ones with the tensors exchanged, and of dense layers. The gradient is written in the layout
// the weight is stored in where that has 16 outputs side by side, as oneDNN's fast forward kernels want it; oneDNN's
// own weight gradients would have to be copied into it.
#pragma once

#include <optional>

#include "isobar/ops/op.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// A weight gradient: x [N, spatial..., C] and dz [N, spatial..., O], and where they are found.
struct TiledGradient {
  Window window;
  Shape x, y;
  Slot from_x, from_dz;
  Layout stored;  ///< of the weight, axes O, C, kernel..., with groups in front of them when there are several
  bool bias;      ///< also writes the gradient of input 2
  int temporary;  ///< number of the scratchpad
  double flops;
  std::int64_t groups = 1;
};

/// A kernel that writes dx of input 1 and, when `bias`, of input 2; nothing where groups do not lie one after the
/// other.
std::optional<Kernel> tiled_weight_gradient(const TiledGradient& p);

}  // namespace isobar::ops
