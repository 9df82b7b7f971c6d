#include "isobar/parallel/step_start.hpp"

#include <algorithm>

namespace isobar::parallel {

void StepStart::keep(const Replica& replica) {
  kept_.clear();
  for (const ReplicaParameter& parameter : replica.parameters())
    if (!parameter.trained) kept_.insert(kept_.end(), parameter.weight.begin(), parameter.weight.end());
}

void StepStart::put_back(const Replica& replica) const {
  if (kept_.empty()) return;
  const float* from = kept_.data();
  for (const ReplicaParameter& parameter : replica.parameters()) {
    if (parameter.trained) continue;
    std::copy_n(from, parameter.weight.size(), parameter.weight.begin());
    from += parameter.weight.size();
  }
}

}  // namespace isobar::parallel
