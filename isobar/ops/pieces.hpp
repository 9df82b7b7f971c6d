// Gradients in pieces: the contributions of several readers of a value to its gradient. They are added only where the
// gradient is needed, and read in place, which may be among the channels of a larger tensor.
#pragma once

#include <optional>
#include <span>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// The layout of a tensor of this shape whose rows of channels begin `first` numbers into a memory, `pitch` apart.
Layout piece_layout(const Shape& shape, std::int64_t first, std::int64_t pitch);

/// A read of dy number first_pieces + i, which must be the last read of its kernel, receives dy i as several tensors to
/// be added, each in a piece_layout() or dense.
inline constexpr int first_pieces = 1000;

/// If a kernel only copies channels of dy 0, the first of these channels, taken from its read's piece_layout(); nothing
/// for other kernels. Such a copy is unnecessary for a reader that accepts pieces.
std::optional<std::int64_t> copied_channels(const Kernel& kernel);

/// to = the sum of all pieces, which have the same shape; with `y`, times `slope` where y is not above zero. `y` and
/// `to` are dense, and may be the memory of a dense piece.
void add_pieces(std::span<const dnnl::memory> pieces, const float* y, float slope, float* to);

}  // namespace isobar::ops
