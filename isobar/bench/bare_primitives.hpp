// The bare oneDNN primitives of a network's training step: the time the library alone needs. Primitives run alone, on
// the numbers they get in training; all other kernels and the optimizer count with the time that this machine's memory
// or arithmetic allows.
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
  /// The sum of the primitives' medians so far and the minimum time of everything else in a step. After run().
  double seconds() const;

 private:
  machine::Peaks peaks_;
  TrainingStep step_;
  IdVector<graph::StepId, std::vector<double>> times_;  // of every step of the plan that is a primitive
};

}  // namespace isobar::bench
