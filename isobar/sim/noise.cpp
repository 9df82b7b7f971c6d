#include "isobar/sim/noise.hpp"

#include <cmath>

namespace isobar::sim {

double Noise::factor(std::int64_t step, int rank) const {
  if (!on_ || model_.sigma == 0) return 1;
  const double normal = random_.sub(step).normal_pair(rank)[0];
  return std::exp(model_.sigma * normal - model_.sigma * model_.sigma / 2);
}

double Noise::delay(std::int64_t step, int rank) const {
  if (!on_ || model_.straggler_probability == 0) return 0;
  const Random late = random_.sub(step).sub(1);
  return late.uniform(rank) < model_.straggler_probability ? model_.straggler_seconds : 0;
}

}  // namespace isobar::sim
