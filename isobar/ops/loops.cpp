#include "isobar/ops/loops.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace isobar::ops {

void in_parts(std::int64_t count, Dispatched<void(std::int64_t, std::int64_t)> part, std::int64_t length) {
  const std::int64_t parts = (count + length - 1) / length;
#pragma omp parallel for schedule(static) if (parts > 1)
  for (std::int64_t i = 0; i < parts; ++i) part(i * length, std::min(count, (i + 1) * length));
}

double ordered_sum(std::int64_t count, Dispatched<double(std::int64_t, std::int64_t)> part, std::int64_t length) {
  std::vector<double> sums((count + length - 1) / length);
  const auto keep = [&](std::int64_t begin, std::int64_t end) { sums[begin / length] = part(begin, end); };
  in_parts(count, keep, length);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace isobar::ops
