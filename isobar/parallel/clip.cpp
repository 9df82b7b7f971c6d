#include "isobar/parallel/clip.hpp"

#include <cmath>
#include <numeric>

#include "isobar/optim/sweep.hpp"

namespace isobar::parallel {
namespace {

double square_sum(std::span<const float> values) {
  std::vector<double> parts((values.size() + optim::sweep_chunk - 1) / optim::sweep_chunk);
  optim::sweep(values.size(), [&](std::size_t begin, std::size_t end) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = begin; i < end; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    parts[begin / optim::sweep_chunk] = sum;
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

}  // namespace

double clip_factor(Replica& replica, std::span<const float> gradients, double norm) {
  if (norm <= 0) return 1;
  double sum = 0;
  for (int p = 0; p < replica.parameters(); ++p)
    if (replica.trained(p)) sum += square_sum(gradients.subspan(replica.offset(p), replica.gradient(p).size()));
  const double length = std::sqrt(sum);
  return std::isfinite(length) && length > norm ? norm / length : 1;
}

}  // namespace isobar::parallel
