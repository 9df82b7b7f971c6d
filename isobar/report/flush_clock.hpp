// FlushClock: when a file that gets a line every step should hand them to the system: so that a run that is killed
// loses about a second, and one of very short steps does not spend its time on it.
#pragma once

#include <functional>
#include <utility>

#include "isobar/base/clock.hpp"

namespace isobar::report {

class FlushClock {
 public:
  /// `clock` gives seconds.
  explicit FlushClock(std::function<double()> clock = now_seconds) : clock_(std::move(clock)), flushed_at_(clock_()) {}

  /// Whether to flush now, after a step of so many seconds: if not, the next step would end later than a second after
  /// the last time.
  bool due(double step_seconds) const { return clock_() - flushed_at_ + step_seconds >= 1; }
  void done() { flushed_at_ = clock_(); }

 private:
  std::function<double()> clock_;
  double flushed_at_;
};

}  // namespace isobar::report
