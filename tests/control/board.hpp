// A launcher's switchboard for tests: driven by a thread, or by the test's own clock and turns.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "isobar/base/clock.hpp"
#include "isobar/control/lifeline.hpp"
#include "isobar/control/switchboard.hpp"

namespace isobar::control::tests {

/// What a chronicle tells the user.
struct Told {
  std::vector<std::string> lines;
  Chronicle chronicle{[this](const std::string& line) { lines.push_back(line); }, "", 10};

  bool mentions(const std::string& text) const {
    for (const std::string& line : lines)
      if (line.find(text) != std::string::npos) return true;
    return false;
  }
};

/// A switchboard at work in its own thread; ends with its scope, like a launcher that is killed.
class Board {
 public:
  Board(int ranks, int spares, int least = 1)
      : board_({.ranks = {ranks, spares, least}, .token = "secret"}, told_.chronicle, [] { return now_seconds(); }),
        thread_([this] {
          while (!ending_) {
            const std::lock_guard lock(mutex_);
            board_.turn(0.005);
          }
        }) {}
  ~Board() {
    ending_ = true;
    thread_.join();
  }

  Address address() const { return {"127.0.0.1", board_.port(), "secret"}; }
  /// Calls a function with the board or what was told, while its thread does nothing.
  template <class F>
  auto with(F use) {
    const std::lock_guard lock(mutex_);
    return use(board_, told_);
  }
  /// Waits until the condition holds, for at most a minute.
  template <class F>
  bool wait_until(F so) {
    for (int i = 0; i < 12000; ++i) {
      if (with(so)) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

 private:
  Told told_;
  Switchboard board_;
  std::mutex mutex_;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace isobar::control::tests
