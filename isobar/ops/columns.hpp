// Sums over the rows of a matrix, one per column: statistics of channels and gradients of what is added to every row.
// Rows are cut into parts by their number alone, so that the sums do not depend on the threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace isobar::ops {

/// Adds the rows [begin, end) to `sums`.
using AddRows = std::function<void(std::int64_t begin, std::int64_t end, std::span<double> sums)>;

/// `count` sums over `rows` rows of `width` numbers each, bitwise the same for any number of threads.
std::vector<double> column_sums(std::int64_t rows, std::int64_t width, std::int64_t count, const AddRows& add);

/// sums[c] = sum over rows of x[row * width + c].
void sum_rows(std::int64_t rows, std::int64_t width, const float* x, float* sums);

}  // namespace isobar::ops
