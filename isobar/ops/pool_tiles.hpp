// Our own loops of max and mean pooling for windows that lie side by side and hold every number once, channels last:
// backward writes past the caches, and a relu absorbed by the pooling and its gradient are part of the same pass. In
// the first layers of hep and cosmoflow, where dx does not fit the caches, it runs twice as fast as oneDNN's.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/ops/window.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::ops {

class PoolTiles {
 public:
  /// `slope` is that of the relu behind the pooling for negative numbers; 1: there is none.
  PoolTiles(bool maximum, const Shape& x, const Window& window, float slope);

  /// Whether windows hold every number of x once, and their numbers can be counted by a byte.
  static bool suits(const Shape& x, const Window& window);

  /// `places`, when not null, gets which number of the window was the largest.
  void forward(const float* x, float* y, std::uint8_t* places) const;
  /// `y` is read when there is a slope, `places` for maxima.
  void backward(const float* dy, const float* y, const std::uint8_t* places, float* dx) const;

 private:
  // Calls each(where the window begins in x, where its result is in y) for all windows, in parallel.
  template <class Each>
  void over_windows(const Each& each) const;

  bool maximum_;
  std::int64_t batch_, channels_, out_[3], tile_[3];  // missing axes in front have extent 1
  std::vector<std::int64_t> offsets_;                 // of the numbers of a window
  float slope_;
};

}  // namespace isobar::ops
