// StepNumbers: the few numbers that ranks sum beside their gradients: loss, samples, bad numbers. They lie behind the
// gradients, where the running statistics often end, so that both mostly travel in one piece. Where gradients travel in
// 16 bits, these do not.
#pragma once

#include <memory>
#include <vector>

#include "isobar/parallel/sum_watch.hpp"

namespace isobar::parallel {

class StepNumbers {
 public:
  /// How many there are: they have a cache line of their own.
  static constexpr std::size_t count = 16;
  static constexpr std::size_t loss = 0, rows = 1, bad = 2;

  /// They lie at `begin` in the memory of `reducer`, which was made with `options`; `statistics`: where in it running
  /// statistics lie. All ranks must call; the others must outlive this.
  StepNumbers(comm::Comm& world, comm::Reducer& reducer, std::size_t begin, std::vector<comm::Range> statistics,
              comm::ReducerOptions options, SumWatch& watch);

  float& operator[](std::size_t i) { return reducer_.memory()[begin_ + i]; }
  /// Begins to sum them, and the statistics with them or not.
  void start(bool statistics);
  void wait();

 private:
  template <class Copy>
  void copy_ranges(Copy copy);

  SumWatch& watch_;
  comm::Reducer& reducer_;
  std::unique_ptr<comm::Reducer> exact_;  // where gradients travel in 16 bits: sums copies of the ranges as they are
  std::size_t begin_;
  std::vector<comm::Range> ranges_;  // where statistics and numbers lie
  std::vector<comm::Reducer::Sum> under_way_;
};

}  // namespace isobar::parallel
