#include "isobar/optim/norm.hpp"

#include <cmath>
#include <vector>

#include "isobar/optim/sweep.hpp"

namespace isobar::optim {

TwoSums sum_sweep(std::size_t count, const std::function<TwoSums(std::size_t begin, std::size_t end)>& chunk) {
  std::vector<TwoSums> parts((count + sweep_chunk - 1) / sweep_chunk);
  sweep(count, [&](std::size_t begin, std::size_t end) { parts[begin / sweep_chunk] = chunk(begin, end); });
  TwoSums total;
  for (const TwoSums& part : parts) {
    total.first += part.first;
    total.second += part.second;
  }
  return total;
}

double norm(std::span<const float> values) {
  const float* const v = values.data();
  const auto squares = [=](std::size_t begin, std::size_t end) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(v[i]) * static_cast<double>(v[i]);
    return TwoSums{sum, 0};
  };
  return std::sqrt(sum_sweep(values.size(), squares).first);
}

}  // namespace isobar::optim
