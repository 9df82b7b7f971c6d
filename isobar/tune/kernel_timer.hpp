// KernelTimer: how long kernels of one operator take when they run alone, on their own memory.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "isobar/ops/op.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::tune {

/// How carefully to measure.
struct TimingCare {
  int runs = 5;          ///< the median of this many is taken, after one warm-up run
  double seconds = 0.3;  ///< but after this time no further run begins, if there were two
};

class KernelTimer {
 public:
  explicit KernelTimer(const TimingCare& care = {});

  /// Median seconds of the kernels, run in order; infinity if the first run takes longer than `hopeless` seconds.
  double time(std::span<const ops::Kernel> kernels, double hopeless = std::numeric_limits<double>::infinity());
  /// Median seconds of two lists of kernels, run alternately, so that a machine that is busy now and then slows down
  /// both.
  std::pair<double, double> contest(std::span<const ops::Kernel> one, std::span<const ops::Kernel> other);
  /// Seconds to copy between two layouts; 0 if they are the same.
  double relayout(const Layout& from, const Layout& to);
  int measurements() const { return measurements_; }

 private:
  using Key = std::pair<ops::Slot::Kind, int>;
  dnnl::memory memory(const ops::Port& port);
  void* numbers(Key key, std::size_t bytes);
  std::vector<std::vector<dnnl::memory>> bind(std::span<const ops::Kernel> kernels);
  template <class Run>
  double timed(const Run& run);
  template <class Run>
  double median(const Run& run, double hopeless);

  TimingCare care_;
  ops::Moment moment_{};
  std::map<Key, Block> blocks_;  // grown as needed, and kept
  int measurements_ = 0;
};

}  // namespace isobar::tune
