// How a thread waits for what it must look at itself, when cores are few: it looks again at once for some microseconds,
// then lets others run between looks, then sleeps between them.
#pragma once

#include <algorithm>
#include <sched.h>
#include <thread>

#include "isobar/base/clock.hpp"

namespace isobar::comm_mpi {

class Patience {
 public:
  /// Seconds since waiting began.
  double waited() const { return now_seconds() - start_; }

  /// Between two looks; sleeps at most so many seconds.
  void pause(double at_most = 1) {
    const double seconds = waited();
    if (seconds < 20e-6) return;
    if (seconds < 1e-3) sched_yield();
    else std::this_thread::sleep_for(std::chrono::duration<double>(std::min({at_most, seconds / 20, 200e-6})));
  }

 private:
  double start_ = now_seconds();
};

}  // namespace isobar::comm_mpi
