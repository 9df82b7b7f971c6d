#include "isobar/parallel/clip.hpp"

#include <cmath>

#include "isobar/optim/norm.hpp"

namespace isobar::parallel {
optim::Step clip(Replica& replica, std::span<const float> gradients, const optim::Step& step) {
  optim::Step clipped = step;
  if (step.clip_norm <= 0) return clipped;
  double sum = 0;
  replica.timed(Category::optimizer, "norm of gradients", step.index, static_cast<double>(gradients.size_bytes()), [&] {
    for (int p = 0; p < replica.parameters(); ++p)
      if (replica.trained(p))
        sum += std::pow(optim::norm(gradients.subspan(replica.offset(p), replica.gradient(p).size())), 2);
  });
  const double length = std::abs(step.gradient_scale) * std::sqrt(sum);
  if (std::isfinite(length) && length > step.clip_norm) clipped.gradient_scale *= step.clip_norm / length;
  return clipped;
}

}  // namespace isobar::parallel
