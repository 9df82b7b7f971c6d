// LauncherLine: a rank's socket to its launcher. A finished step is sent before any other report, and not more often
// than the launcher needs it. The caller's lock must be held around all calls except wake().
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <sys/eventfd.h>

#include "isobar/control/address.hpp"
#include "isobar/control/line_socket.hpp"
#include "isobar/control/words.hpp"

namespace isobar::control {

/// Connects to the launcher within `seconds`, and says hello for a rank or its shield; broken if there is no answer.
LineSocket call_launcher(const Address& launcher, int rank, bool shield, double seconds);

class LauncherLine {
 public:
  explicit LauncherLine(LineSocket socket) : socket_(std::move(socket)) {}

  bool broken() const { return socket_.broken(); }
  /// Begins to send the report.
  void say(const Report& report);
  /// Sends that this rank has finished a step: now, or with the next report if the last step was sent a moment ago.
  void finished(std::int64_t step);
  /// The next step will be sent at once.
  void await_next_step() { said_step_at_ = 0; }

  /// Waits at most `seconds`, without the lock, until there is something to send or receive, or until wake().
  void wait(std::unique_lock<std::mutex>& lock, double seconds);
  void wake() const { eventfd_write(*wake_, 1); }
  /// The next line that has arrived.
  std::optional<std::string> next() { return socket_.next(); }

 private:
  void say_step();

  LineSocket socket_;
  Descriptor wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::int64_t unsaid_step_ = -1;
  double said_step_at_ = 0;
};

}  // namespace isobar::control
