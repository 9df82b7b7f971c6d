// Rate: the current speed of a run, from exponentially decaying sums: old steps fade over about ten seconds, and even
// the first step gives an unbiased rate.
#pragma once

#include <cstdint>

namespace isobar::record {

class Rate {
 public:
  void add(std::int64_t samples, double seconds, double wait_seconds, double exchange_seconds = 0);

  /// These are 0 before the first step.
  double samples_per_second() const;
  double seconds_per_step() const;
  /// The part of the time spent waiting for input, in [0, 1].
  double waiting() const;
  /// The part of the time this rank stood still for other ranks, in [0, 1].
  double exchanging() const;

 private:
  double steps_ = 0, samples_ = 0, seconds_ = 0, wait_seconds_ = 0, exchange_seconds_ = 0;
};

}  // namespace isobar::record
