// How to wait for another rank by polling: spin for some microseconds, then yield the core, then sleep for longer and
// longer. Ranks may share cores, so no rank spins for long.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace isobar::comm {

class Patience {
 public:
  explicit Patience(int longest_microseconds = 500) : longest_microseconds_(longest_microseconds) {}

  /// Waits a little; returns whether it is time to check clocks and failures of other ranks.
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
  /// Something happened: waiting starts again with spinning.
  void reset() { *this = Patience(longest_microseconds_); }

 private:
  static constexpr int spins = 256, yields = 2048;  // about 10 us, then about a millisecond on an idle core
  int longest_microseconds_, looks_ = 0, sleep_microseconds_ = 50;
};

}  // namespace isobar::comm
