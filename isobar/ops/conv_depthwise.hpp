// Convolutions of every channel with itself (groups = channels = filters), forward and back. oneDNN 2.6 has no kernel
// for the gradients of channels-last tensors with dilation and walks through them one by one; there is little to
// compute, so memory should be the limit. Weights and their gradient are [taps, C] in memory.
#pragma once

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

/// Whether every channel goes with itself only.
inline bool is_depthwise(const ConvCase& p) { return p.groups > 1 && p.groups == p.x[-1] && p.groups == p.y[-1]; }

/// How the weights lie: axes C, 1, 1, kernel...
Layout depthwise_layout(const ConvCase& p);

}  // namespace isobar::ops
