#include "isobar/optim/norm.hpp"

#include <cmath>

#include "isobar/base/loops.hpp"

namespace isobar::optim {

// Four independent sums, one for each quarter: in a single sum every addition would wait for the previous one.
double squares(std::span<const float> piece) {
  const std::size_t quarter = piece.size() / 4;
  const float *const a = piece.data(), *const b = a + quarter, *const c = b + quarter, *const d = c + quarter;
  const auto square = [](float v) { return static_cast<double>(v) * v; };
  double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
#pragma omp simd reduction(+ : sum_a, sum_b, sum_c, sum_d)
  for (std::size_t i = 0; i < quarter; ++i) {
    sum_a += square(a[i]);
    sum_b += square(b[i]);
    sum_c += square(c[i]);
    sum_d += square(d[i]);
  }
  for (std::size_t i = 4 * quarter; i < piece.size(); ++i) sum_d += square(a[i]);
  return (sum_a + sum_b) + (sum_c + sum_d);
}

double norm(std::span<const float> values) {
  return std::sqrt(ordered_sum(
      values.size(), [=](std::size_t begin, std::size_t end) { return squares(values.subspan(begin, end - begin)); }));
}

}  // namespace isobar::optim
