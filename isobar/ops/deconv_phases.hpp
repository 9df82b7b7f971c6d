// A transposed convolution as forward convolutions: with stride s, the output positions that are equal modulo s (a
// phase) are a stride-1 convolution of x with every s-th tap, reversed. oneDNN 2.6 computes forward convolutions of
// channels-last tensors about twice as fast as strided data gradients (143 against 61 GF/s on one core, 96x96x128 to
// 192x192x128, 3x3), which pays for interleaving the phases.
#pragma once

#include <optional>

#include "isobar/ops/op.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {

/// One transposed convolution from x to y, given by the convolution from y to x.
struct Transposed {
  Window window;
  Shape x, y;
  Layout w;           ///< as stored, axes [channels of x, channels of y, kernel...]
  Slot from, to;      ///< where x is read and y is written
  bool bias = false;  ///< adds input number 2 to y
  int first_temporary = 0;
};

/// A kernel that reads x, the weight (input number 1) and the bias; nothing if oneDNN is not faster that way.
std::optional<Kernel> deconv_by_phases(const Setting& setting, const Transposed& p, const char* name, Category category,
                                       double flops);

}  // namespace isobar::ops
