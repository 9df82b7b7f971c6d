// The weight gradient of a stride-1 convolution with few input channels, such as the first layer of CosmoFlow (4).
// oneDNN vectorises over input channels there and reaches a third of the machine; this kernel vectorises over output
// channels and treats a row of x as a matrix whose columns overlap.
#pragma once

#include <optional>

#include "isobar/ops/op.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// A kernel that writes dw (as [taps, C, O] in memory) and, when `bias`, db; nothing when shape or machine do not suit.
std::optional<Kernel> narrow_weight_gradient(const Shape& x, const Shape& y, const Window& window, bool bias, Slot dz,
                                             double flops);

}  // namespace isobar::ops
