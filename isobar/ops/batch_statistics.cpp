#include "isobar/ops/batch_statistics.hpp"

#include <algorithm>

#include "isobar/ops/columns.hpp"

namespace isobar::ops {

// Sums are taken relative to the first row, so that a mean far from zero does not hide the variance.
BatchStatistics batch_statistics(std::int64_t rows, std::int64_t width, const float* values) {
  const auto add = [=](std::int64_t begin, std::int64_t end, std::span<double> sums) {
    add_pairs(begin, end, width, sums.data(), [=](auto lanes, std::int64_t c) {
      using L = decltype(lanes);
      return
          [=, shift = numbers<L>(values + c)](std::int64_t row, typename L::Floats& first, typename L::Floats& second) {
            const typename L::Floats d = numbers<L>(values + row * width + c) - shift;
            first += d;
            second = multiply_add<L>(d, d, second);
          };
    });
  };
  BatchStatistics own{rows, std::vector<double>(width), {}};
  own.variance = own.mean;
  if (rows == 0) return own;
  const std::vector<double> sums = column_sums(rows, width, 2 * width, add);
  const auto count = static_cast<double>(rows);
  for (std::size_t c = 0; c < own.mean.size(); ++c) {
    const double offset = sums[c] / count;
    own.mean[c] = values[c] + offset;
    own.variance[c] = std::max(0.0, sums[width + c] / count - offset * offset);
  }
  return own;
}

void pack(const BatchStatistics& own, std::span<double> sums) {
  const std::size_t width = own.mean.size();
  const auto count = static_cast<double>(own.count);
  for (std::size_t c = 0; c < width; ++c) {
    sums[c] = count * own.mean[c];
    sums[width + c] = count * (own.variance[c] + own.mean[c] * own.mean[c]);
  }
  sums[2 * width] = count;
}

BatchStatistics unpack(std::span<const double> sums) {
  const std::size_t width = sums.size() / 2;
  const double count = sums[2 * width];
  BatchStatistics all{static_cast<std::int64_t>(count), std::vector<double>(width), std::vector<double>(width)};
  for (std::size_t c = 0; count > 0 && c < width; ++c) {
    all.mean[c] = sums[c] / count;
    all.variance[c] = std::max(0.0, sums[width + c] / count - all.mean[c] * all.mean[c]);
  }
  return all;
}

}  // namespace isobar::ops
