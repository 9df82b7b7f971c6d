// Noise: how ranks differ from step to step. Computing times vary log-normally around their mean, and now and then a
// rank is late. A pure function of seed, step and rank, so that every way of simulating meets the same noise.
#pragma once

#include "isobar/base/random.hpp"
#include "isobar/sim/platform.hpp"

namespace isobar::sim {

class Noise {
 public:
  Noise(const NoiseModel& model, std::uint64_t seed, bool on = true) : model_(model), random_(seed), on_(on) {}

  /// What the computing times of a rank in a step are multiplied by; 1 on average.
  double factor(std::int64_t step, int rank) const;
  /// By how many seconds a rank is late in a step; mostly 0.
  double delay(std::int64_t step, int rank) const;

 private:
  NoiseModel model_;
  Random random_;
  bool on_;
};

}  // namespace isobar::sim
