// Rate: how fast a run goes at present, as sums that forget exponentially: old steps fade over some ten seconds, and
// the first step already gives an unbiased rate.
#pragma once

#include <cstdint>

namespace isobar::record {

class Rate {
 public:
  void add(std::int64_t samples, double seconds, double wait_seconds, double exchange_seconds = 0);

  /// Each is 0 before the first step.
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
