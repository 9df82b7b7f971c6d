// Updates: what follows once gradients are summed: a search for bad numbers, clipping, and the optimizer's rule. The
// weights of a bucket are updated while others still travel, or all together where they are clipped or a step is to be
// whole.
#pragma once

#include "isobar/parallel/buckets.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

class Updates {
 public:
  explicit Updates(const Care& care = {}) : whole_(care.whole), search_(care.finite) {}

  /// Whether all these gradients of the replica are finite; true where nobody is to look.
  bool finite(Replica& replica, std::span<const Bucket> buckets, std::int64_t step);
  /// Throws NotFinite when the forward passes came out bad.
  void expect_finite(const ForwardSummary& summary);
  /// Applies gradients that lie in `gradients` as all gradients do; wait(b) returns when those of bucket b are summed.
  /// Throws NotFinite, when all have been waited for, if the summary or one of them is bad.
  void apply(Replica& replica, std::span<const float> gradients, std::span<const Bucket> buckets,
             const optim::Step& step, const ForwardSummary& summary, const std::function<void(int b)>& wait);

  /// Clipping by the global norm: the step with a gradient_scale with which the norm of all gradients together is at
  /// most step.clip_norm. Left as it is where there is no limit, and where the norm is not finite. The norm is summed
  /// in double over chunks of fixed size, in order, so that it depends neither on threads nor on ranks.
  optim::Step clipped(Replica& replica, std::span<const float> gradients, const optim::Step& step);

 private:
  bool whole_;
  FiniteSearch search_;
  Chore norm_{Category::optimizer, "norm of gradients"};
};

}  // namespace isobar::parallel
