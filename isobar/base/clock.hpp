// The wall clock used for traces and rates: seconds on a monotonic clock.
#pragma once

#include <chrono>

namespace isobar {

/// Seconds since an arbitrary origin; never goes back.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace isobar
