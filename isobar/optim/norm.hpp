// Norms of whole parameters. Squares are added in double within chunks of fixed size, and the chunks in order: the norm
// depends neither on the number of threads nor, but for rounding in the last digit, on the layout of the weights.
#pragma once

#include <cstddef>
#include <span>

#include "isobar/base/instructions.hpp"

namespace isobar::optim {

/// The square root of the sum of squares.
double norm(std::span<const float> values);

/// The sum of squares of a short piece, by the calling thread alone.
double squares(std::span<const float> piece);

/// Two sums taken in one pass.
struct TwoSums {
  double first = 0, second = 0;
};

/// Adds up what `chunk(begin, end)` returns for pieces that cover [0, count) once, in the order of the pieces; it is
/// called from several threads at a time.
TwoSums sum_sweep(std::size_t count, Dispatched<TwoSums(std::size_t begin, std::size_t end)> chunk);

}  // namespace isobar::optim
