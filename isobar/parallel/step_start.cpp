#include "isobar/parallel/step_start.hpp"

#include <algorithm>

namespace isobar::parallel {

void StepStart::keep(Replica& replica) {
  kept_.clear();
  for (int p = 0; p < replica.parameters(); ++p)
    if (!replica.trained(p)) kept_.insert(kept_.end(), replica.weight(p).begin(), replica.weight(p).end());
}

void StepStart::put_back(Replica& replica) const {
  if (kept_.empty()) return;
  const float* from = kept_.data();
  for (int p = 0; p < replica.parameters(); ++p) {
    if (replica.trained(p)) continue;
    const std::span<float> weight = replica.weight(p);
    std::copy_n(from, weight.size(), weight.begin());
    from += weight.size();
  }
}

}  // namespace isobar::parallel
