// The data gradient of a stride-1 convolution as a forward convolution: dx = dz * w', where w' has input and output
// channels exchanged and every spatial axis reversed. oneDNN 2.6 has a faster kernel for the forward direction of
// channels-last tensors: 1.65 times as fast in CosmoFlow's second layer, 1.2 in the third and fourth, equal in the
// last. Turning the weights takes under 3 % of the time, except in the last layer (a tenth).
#pragma once

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

/// Two kernels: one turns the weights (the first temporary), one convolves dz. Nothing if oneDNN's own data gradient is
/// as good.
std::optional<std::vector<Kernel>> data_gradient_by_forward(const Setting& setting, const ConvCase& problem);

}  // namespace isobar::ops
