// Input: when the samples of a step are there. Every node reads ahead, by as many batches as the loader keeps; together
// nodes get no more than the file system gives, and each no more than a client can take.
#pragma once

#include <deque>

#include "isobar/sim/simulate.hpp"

namespace isobar::sim {

/// Seconds a rank needs to read the samples of one step while all others do the same; 0 without input. A source the
/// platform does not have is a UsageError.
double read_seconds(const Platform& platform, Input input, int ranks, int ranks_per_node, double bytes_per_rank);

/// One rank's loader.
class ReadAhead {
 public:
  explicit ReadAhead(double seconds_per_batch) : seconds_(seconds_per_batch) {}

  /// A step wants to begin at `now`: returns when its samples are there, at `now` or later.
  double ready(double now);

 private:
  static constexpr std::size_t batches_ahead = 2;

  double seconds_;
  double read_ = 0;             // when the last batch was complete
  std::deque<double> taken_{};  // when the last few were taken, which makes room for further ones
};

}  // namespace isobar::sim
