// The weight gradient of a stride-1 convolution with few input channels, such as the first layer of CosmoFlow (4).
// oneDNN vectorises over input channels there and reaches a third of the machine; this kernel vectorises over output
// channels and treats a row of x as a matrix whose columns overlap.
#pragma once

#include "isobar/ops/conv_methods.hpp"

namespace isobar::ops {

/// A kernel that writes dw (as [taps, C, O] in memory) and, with a bias, db; nothing when shape or machine do not suit.
std::optional<Kernel> narrow_weight_gradient(const ConvCase& problem);

}  // namespace isobar::ops
