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

optim::Step clip(Replica& replica, std::span<const float> gradients, const optim::Step& step) {
  optim::Step clipped = step;
  if (step.clip_norm <= 0) return clipped;
  double sum = 0;
  for (int p = 0; p < replica.parameters(); ++p)
    if (replica.trained(p)) sum += square_sum(gradients.subspan(replica.offset(p), replica.gradient(p).size()));
  const double length = std::abs(step.gradient_scale) * std::sqrt(sum);
  if (std::isfinite(length) && length > step.clip_norm) clipped.gradient_scale *= step.clip_norm / length;
  return clipped;
}

}  // namespace isobar::parallel
