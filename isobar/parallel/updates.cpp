#include "isobar/parallel/updates.hpp"

#include "isobar/parallel/clip.hpp"

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
  const optim::Step clipped = clip(replica, gradients, step, norm_);
  for (const Bucket& bucket : buckets) update(bucket, clipped);
}

}  // namespace isobar::parallel
