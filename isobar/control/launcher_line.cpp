#include "isobar/control/launcher_line.hpp"

#include <algorithm>
#include <poll.h>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/control/shield.hpp"

namespace isobar::control {
namespace {

constexpr double seconds_between_steps = 0.02;

}  // namespace

LineSocket call_launcher(const Address& launcher, int rank, bool shield, double seconds) {
  LineSocket socket(connect_to(launcher.host, launcher.port, seconds), longest_notice);
  Report hello{.kind = Report::Kind::hello, .text = launcher.token, .shield = shield, .rank = rank};
  hello.launch = launch_number();
  hello.pid = getpid();
  hello.host = host_name();
  socket.send(write(hello));
  return socket;
}

void LauncherLine::say_step() {
  if (unsaid_step_ < 0) return;
  socket_.send(write(Report{.kind = Report::Kind::progress, .number = std::exchange(unsaid_step_, -1)}));
  said_step_at_ = now_seconds();
}

void LauncherLine::say(const Report& report) {
  say_step();
  socket_.send(write(report));
  wake();
}

void LauncherLine::finished(std::int64_t step) {
  unsaid_step_ = step;
  if (now_seconds() - said_step_at_ < seconds_between_steps) return;
  say_step();
  wake();
}

void LauncherLine::wait(std::unique_lock<std::mutex>& lock, double seconds) {
  pollfd wait[] = {{socket_.descriptor(), POLLIN, 0}, {*wake_, POLLIN, 0}};
  if (socket_.sending()) wait[0].events |= POLLOUT;
  lock.unlock();
  poll(wait, 2, static_cast<int>(std::max(0.0, seconds) * 1e3) + 1);
  eventfd_t ignored = 0;
  if (wait[1].revents) eventfd_read(*wake_, &ignored);
  lock.lock();
  socket_.flush();
  socket_.receive();
}

}  // namespace isobar::control
