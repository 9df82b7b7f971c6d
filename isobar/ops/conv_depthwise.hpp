// Depthwise convolutions (groups = channels = filters), forward and backward. For gradients of channels-last tensors
// with dilation, oneDNN 2.6 has no fast kernel and processes them number by number; there is little to compute, so
// memory should be the limit. Weights and their gradient are [taps, C] in memory.
#pragma once

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

/// Whether every output channel depends on one input channel only.
inline bool is_depthwise(const ConvCase& p) { return p.groups > 1 && p.groups == p.x[-1] && p.groups == p.y[-1]; }

/// The layout of the weights: axes C, 1, 1, kernel...
Layout depthwise_layout(const ConvCase& p);

}  // namespace isobar::ops
