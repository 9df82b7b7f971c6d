#include "isobar/ops/columns.hpp"

#include <algorithm>

#include "isobar/base/loops.hpp"

namespace isobar::ops {
namespace {
constexpr std::int64_t most_column_parts = 256;  // bounds the memory of the partial sums
}

std::vector<double> column_sums(std::int64_t rows, std::int64_t width, std::int64_t count, AddRows add) {
  const std::int64_t length = std::max({std::int64_t{1}, loop_part / std::max<std::int64_t>(1, width),
                                        (rows + most_column_parts - 1) / most_column_parts});
  const std::int64_t parts = (rows + length - 1) / length;
  const std::size_t size = count;
  std::vector<double> partial(std::max<std::int64_t>(1, parts) * size);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    add(begin, end, std::span(partial).subspan(begin / length * size, size));
  };
  in_parts(rows, part, length);
  for (std::size_t p = 1; p < static_cast<std::size_t>(parts); ++p)
    for (std::size_t i = 0; i < size; ++i) partial[i] += partial[p * size + i];
  partial.resize(size);
  return partial;
}

void sum_rows(std::int64_t rows, std::int64_t width, const float* x, float* sums) {
  const auto add = [=](std::int64_t begin, std::int64_t end, std::span<double> part) {
    double* const to = part.data();
    for (std::int64_t r = begin; r < end; ++r)
#pragma omp simd
      for (std::int64_t c = 0; c < width; ++c) to[c] += x[r * width + c];
  };
  const std::vector<double> total = column_sums(rows, width, width, add);
  std::copy(total.begin(), total.end(), sums);
}

}  // namespace isobar::ops
