// The bare oneDNN primitives of a network's training step: what the library alone needs for it. Primitives run alone,
// on the numbers they meet in training; all other kernels and the optimizer count as what memory or arithmetic of this
// machine allow.
#pragma once

#include <vector>

#include "isobar/bench/training_step.hpp"
#include "isobar/machine/peaks.hpp"

namespace isobar::bench {

class BarePrimitives {
 public:
  BarePrimitives(const Spec& model, std::int64_t batch, const machine::Peaks& peaks);
  /// Runs every primitive twice, once to warm the caches; returns the sum of the second times.
  double run();
  /// The sum over primitives of their medians so far, and of what else a step needs at least. After run().
  double seconds() const;

 private:
  machine::Peaks peaks_;
  TrainingStep step_;
  IdVector<graph::StepId, std::vector<double>> times_;  // of every step of the plan that is a primitive
};

}  // namespace isobar::bench
