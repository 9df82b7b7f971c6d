// A launcher's switchboard for tests: with a thread that drives it, or a clock and turns of the test's own.
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

/// A switchboard at work in a thread of its own; ends with its scope, as a launcher that is killed.
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
  /// Something with the board or what was told, while its thread does nothing.
  template <class F>
  auto with(F use) {
    const std::lock_guard lock(mutex_);
    return use(board_, told_);
  }
  /// Waits until it is so; within a minute.
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
