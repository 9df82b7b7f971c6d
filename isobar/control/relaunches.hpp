// How often a launcher restarts its ranks, and how long it waits before each relaunch: every relaunch in a row that
// finished no step doubles the pause.
#pragma once

#include <algorithm>
#include <cstdint>

namespace isobar::control {

class Relaunches {
 public:
  explicit Relaunches(int limit) : limit_(limit) {}

  /// Whether another relaunch is allowed.
  bool left() const { return used_ < limit_; }
  int used() const { return used_; }
  int limit() const { return limit_; }

  /// Counts a relaunch, and returns the seconds to wait before it; `last_step` is the last finished step of the run.
  double next(std::int64_t last_step) {
    in_vain_ = used_ > 0 && last_step <= last_step_ ? in_vain_ + 1 : 0;
    last_step_ = last_step;
    ++used_;
    return std::min(60.0, 0.5 * (1 << std::min(in_vain_, 10)));
  }

 private:
  int limit_, used_ = 0, in_vain_ = 0;
  std::int64_t last_step_ = -1;
};

}  // namespace isobar::control
