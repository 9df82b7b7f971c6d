// Convolutions of every channel with itself (groups = channels = filters), forward and back. oneDNN 2.6 has no kernel
// for the gradients of channels-last tensors with dilation and walks through them one by one; there is little to
// compute, so memory should be the limit. Weights and their gradient are [taps, C] in memory.
#pragma once

#include <optional>

#include "isobar/ops/op.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// x and y [N, spatial..., C]; weights are input 1, the bias, if any, input 2.
struct Depthwise {
  Window window;
  Shape x, y;
  bool bias;
  Slot dz;
  double flops;
};

/// How the weights lie: axes C, 1, 1, kernel...
Layout depthwise_layout(const Depthwise& p);

Kernel depthwise_forward(const Depthwise& p);
/// Writes dx of inputs 1 and, with a bias, 2.
Kernel depthwise_weight_gradient(const Depthwise& p);
Kernel depthwise_data_gradient(const Depthwise& p);

}  // namespace isobar::ops
