// Sums over the rows of a matrix, one per column: statistics of channels, and gradients of what is added to every row.
// How rows are divided into parts depends only on their number, so the sums do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/base/instructions.hpp"
#include "isobar/ops/lanes.hpp"

namespace isobar::ops {

/// Adds the rows [begin, end) to `sums`.
using AddRows = Dispatched<void(std::int64_t begin, std::int64_t end, std::span<double> sums)>;

/// `count` sums over `rows` rows of `width` numbers each, bitwise equal for any number of threads.
std::vector<double> column_sums(std::int64_t rows, std::int64_t width, std::int64_t count, AddRows add);

/// Adds two numbers for every element of the rows [begin, end) to sums[c] and sums[width + c]. columns(lanes, c)
/// returns a function for some neighbouring columns that adds the numbers of one row to two vectors: (row, first,
/// second). A few rows are added as floats before they go to the doubles, which costs no accuracy: the terms are
/// floats.
template <class Columns>
void add_pairs(std::int64_t begin, std::int64_t end, std::int64_t width, double* sums, const Columns& columns) {
  constexpr std::int64_t few = 16;
  for (std::int64_t from = begin; from < end; from += few) {
    const std::int64_t to = from + few < end ? from + few : end;
    in_lanes(width, [&](auto lanes, std::int64_t c) {
      using L = decltype(lanes);
      typename L::Floats first{}, second{};
      const auto add = columns(lanes, c);
      for (std::int64_t row = from; row < to; ++row) add(row, first, second);
      add_to_doubles<L>(first, sums + c);
      add_to_doubles<L>(second, sums + width + c);
    });
  }
}

/// sums[c] = sum over rows of x[row * width + c].
void sum_rows(std::int64_t rows, std::int64_t width, const float* x, float* sums);

}  // namespace isobar::ops
