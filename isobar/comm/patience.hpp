// How to wait for what another rank will do, where one must look oneself: spin for some microseconds, then give the
// core to others, then sleep ever longer. Ranks may share cores, so nobody spins for long.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace isobar::comm {

class Patience {
 public:
  explicit Patience(int longest_microseconds = 500) : longest_microseconds_(longest_microseconds) {}

  /// Passes some time; returns whether it has been long enough to look at clocks and for failures of others.
  bool pause() {
    ++looks_;
    if (looks_ < spins) {
      __builtin_ia32_pause();
      return false;
    }
    if (looks_ < spins + yields) {
      std::this_thread::yield();
      return looks_ % 64 == 0;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(sleep_microseconds_));
    sleep_microseconds_ = std::min(sleep_microseconds_ + 10, longest_microseconds_);
    return true;
  }
  /// Something happened: waiting begins anew.
  void reset() { *this = Patience(longest_microseconds_); }

 private:
  static constexpr int spins = 256, yields = 2048;  // some 10 us, then about a millisecond on an idle core
  int longest_microseconds_, looks_ = 0, sleep_microseconds_ = 50;
};

}  // namespace isobar::comm
