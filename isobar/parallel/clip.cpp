#include "isobar/parallel/clip.hpp"

#include <cmath>

#include "isobar/optim/norm.hpp"

namespace isobar::parallel {
optim::Step clip(Replica& replica, std::span<const float> gradients, const optim::Step& step, Chore& chore) {
  optim::Step clipped = step;
  if (step.clip_norm <= 0) return clipped;
  double sum = 0;
  replica.timed(chore, step.index, static_cast<double>(gradients.size_bytes()), [&] {
    for (const ReplicaParameter& parameter : replica.parameters())
      if (parameter.trained) sum += std::pow(optim::norm(parameter.in(gradients)), 2);
  });
  const double length = std::abs(step.gradient_scale) * std::sqrt(sum);
  if (std::isfinite(length) && length > step.clip_norm) clipped.gradient_scale *= step.clip_norm / length;
  return clipped;
}

}  // namespace isobar::parallel
