// Picking blocks by number, and adding up their gradients: the basis of embedding and gather.
// x is [outer, rows, width]; y is [outer, picks, width]. Numbers are floats that hold whole numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace isobar::ops {

struct RowPicks {
  std::int64_t outer = 1, rows = 1, picks = 1, width = 1;
};

/// The rows that `numbers` name; negative numbers count from the end. Throws Error for a number that is not a row. The
/// message names the sample, which is the number's position divided by `per_sample`.
std::vector<std::int64_t> picked_rows(const float* numbers, const RowPicks& p, std::int64_t per_sample);

/// y = the picked rows of x.
void gather_rows(const RowPicks& p, const std::vector<std::int64_t>& picked, const float* x, float* y);

/// dx = the sums of dy over the picks of each row, in their order whatever the number of threads.
void scatter_rows(const RowPicks& p, const std::vector<std::int64_t>& picked, const float* dy, float* dx);

}  // namespace isobar::ops
