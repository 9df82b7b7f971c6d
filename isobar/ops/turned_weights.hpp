// The weights of a convolution turned for its transpose: input and output channels exchanged, spatial axes reversed,
// and with a stride only every stride-th tap, in whatever blocked layouts oneDNN requests.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/ops/window.hpp"
#include "isobar/tensor/layout.hpp"

namespace isobar::ops {

/// turned[i, o, t] = stored[o, i, first + step * (count - 1 - t)] for taps t < count of every spatial axis.
class TurnedWeights {
 public:
  /// Layouts of [O, I, kernel...] and [I, O, count...].
  TurnedWeights(const Layout& stored, const Layout& turned, const Extents& first, const Extents& step);

  /// Fills `to`, including padding.
  void copy(const float* from, float* to) const;

 private:
  template <class Lanes>
  void copy_tile(const float* from, float* to, std::int64_t begin, std::int64_t end) const;
  void copy_part(const float* from, float* to, std::int64_t o_begin, std::int64_t i_begin, std::int64_t square) const;

  std::vector<std::int64_t> outputs_, inputs_, taps_, to_inputs_, to_outputs_, to_taps_;
  bool by_squares_ = false;   // copies squares whose edge is the length of a vector
  std::int64_t padding_ = 0;  // numbers to clear first, if the turned layout has padding
};

}  // namespace isobar::ops
