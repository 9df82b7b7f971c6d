// StepNumbers: the few numbers that ranks sum beside their gradients: loss, samples, bad numbers. They lie behind the
// gradients, where the running statistics often end, so that both mostly travel in one piece. They travel as they are,
// whatever the codec of gradients.
#pragma once

#include <vector>

#include "isobar/parallel/sum_watch.hpp"

namespace isobar::parallel {

class StepNumbers {
 public:
  /// How many there are: they have a cache line of their own.
  static constexpr std::size_t count = 16;
  static constexpr std::size_t loss = 0, rows = 1, bad = 2;

  /// They lie at `begin` in the memory of `reducer`; `statistics`: where in it running statistics lie. Both others must
  /// outlive this.
  StepNumbers(comm::Reducer& reducer, std::size_t begin, std::vector<comm::Range> statistics, SumWatch& watch);

  float& operator[](std::size_t i) { return reducer_.memory()[begin_ + i]; }
  /// Begins to sum them, and the statistics with them or not.
  void start(bool statistics);
  void wait();

 private:
  SumWatch& watch_;
  comm::Reducer& reducer_;
  std::size_t begin_;
  std::vector<comm::Range> ranges_;  // where statistics and numbers lie
  std::vector<comm::Reducer::Sum> under_way_;
};

}  // namespace isobar::parallel
