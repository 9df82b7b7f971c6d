// Norms of whole parameters. Squares are added in double within chunks of fixed size, and the chunks in order, so the
// norm does not depend on the number of threads, nor (except for rounding in the last digit) on the weight layout.
#pragma once

#include <span>

namespace isobar::optim {

/// The square root of the sum of squares.
double norm(std::span<const float> values);

/// The sum of squares of a short piece, by the calling thread alone.
double squares(std::span<const float> piece);

}  // namespace isobar::optim
