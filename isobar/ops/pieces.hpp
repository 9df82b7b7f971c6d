// Gradients in pieces: what several readers of a value contribute to its gradient, added where it is needed and not
// before, and found where it lies, which may be among the channels of a larger tensor.
#pragma once

#include <optional>
#include <span>

#include "isobar/ops/op.hpp"

namespace isobar::ops {

/// The layout of a tensor of this shape whose rows of channels begin `first` numbers into a memory, `pitch` apart.
Layout piece_layout(const Shape& shape, std::int64_t first, std::int64_t pitch);

/// A read of dy number first_pieces + i, which must be the last read of its kernel, takes dy i as several tensors to be
/// added, each in a piece_layout() or dense.
inline constexpr int first_pieces = 1000;

/// The first of the channels of dy 0 that a kernel copies and that is all it does, as its read's piece_layout() says;
/// nothing for other kernels. Who can read a piece where it lies needs no copy.
std::optional<std::int64_t> copied_channels(const Kernel& kernel);

/// to = the sum of all pieces, of one shape each; with `y`, times `slope` where y is not above zero. `y` and `to` are
/// dense, and may be the memory of a piece that is.
void add_pieces(std::span<const dnnl::memory> pieces, const float* y, float slope, float* to);

}  // namespace isobar::ops
