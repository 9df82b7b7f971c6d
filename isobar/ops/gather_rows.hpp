// Blocks picked by number, and their gradients added up again: what embedding and gather are made of.
// x is [outer, rows, width]; y is [outer, picks, width]. Numbers are floats that hold whole numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace isobar::ops {

struct RowPicks {
  std::int64_t outer = 1, rows = 1, picks = 1, width = 1;
};

/// The rows that `numbers` name, negative ones counted from the end; throws Error for what is no row. The sample a
/// number belongs to, in the message, is its place divided by `per_sample`.
std::vector<std::int64_t> picked_rows(const float* numbers, const RowPicks& p, std::int64_t per_sample);

/// y = the picked rows of x.
void gather_rows(const RowPicks& p, const std::vector<std::int64_t>& picked, const float* x, float* y);

/// dx = the sums of dy over the picks of each row, in their order, for any number of threads.
void scatter_rows(const RowPicks& p, const std::vector<std::int64_t>& picked, const float* dy, float* dx);

}  // namespace isobar::ops
