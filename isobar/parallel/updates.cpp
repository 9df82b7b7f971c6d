#include "isobar/parallel/updates.hpp"

#include <cmath>

#include "isobar/optim/norm.hpp"

namespace isobar::parallel {

bool Updates::finite(Replica& replica, std::span<const Bucket> buckets, std::int64_t step) {
  search_.begin();
  for (const Bucket& bucket : buckets) search_.look(replica, replica.gradients(), bucket.first, bucket.last, step);
  return search_.good();
}

void Updates::expect_finite(const ForwardSummary& summary) {
  search_.begin();
  search_.look(summary);
  search_.raise();
}

void Updates::apply(Replica& replica, std::span<const float> gradients, std::span<const Bucket> buckets,
                    const optim::Step& step, const ForwardSummary& summary, const std::function<void(int b)>& wait) {
  search_.begin();
  search_.look(summary);
  const bool together = whole_ || step.clip_norm > 0;
  int updated = 0;
  const auto update = [&](const Bucket& bucket, const optim::Step& with) {
    for (int p = bucket.first; p < bucket.last; ++p) replica.update(p, replica[p].in(gradients), with);
    updated += bucket.last - bucket.first;
  };
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    wait(static_cast<int>(b));
    search_.look(replica, gradients, buckets[b].first, buckets[b].last, step.index);
    if (!together && search_.good()) update(buckets[b], step);
  }
  search_.raise(updated);
  if (!together) return;
  const optim::Step with = clipped(replica, gradients, step);
  for (const Bucket& bucket : buckets) update(bucket, with);
}

optim::Step Updates::clipped(Replica& replica, std::span<const float> gradients, const optim::Step& step) {
  optim::Step clipped = step;
  if (step.clip_norm <= 0) return clipped;
  double sum = 0;
  replica.timed(norm_, step.index, static_cast<double>(gradients.size_bytes()), [&] {
    for (const ReplicaParameter& parameter : replica.parameters())
      if (parameter.trained) sum += std::pow(optim::norm(parameter.in(gradients)), 2);
  });
  const double length = std::abs(step.gradient_scale) * std::sqrt(sum);
  if (std::isfinite(length) && length > step.clip_norm) clipped.gradient_scale *= step.clip_norm / length;
  return clipped;
}

}  // namespace isobar::parallel
