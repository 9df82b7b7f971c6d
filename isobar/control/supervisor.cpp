#include "isobar/control/supervisor.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/signalfd.h>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/control/address.hpp"
#include "isobar/control/chronicle.hpp"
#include "isobar/control/command.hpp"
#include "isobar/control/line_socket.hpp"
#include "isobar/control/relaunches.hpp"
#include "isobar/control/shield.hpp"
#include "isobar/control/switchboard.hpp"

namespace isobar::control {
namespace {

constexpr int exit_failed = 1, exit_interrupted = 130;
// How long ranks may take to end, and then the command that started them.
constexpr double seconds_to_leave = 15, seconds_to_end = 5;

// Signals as a descriptor to poll; restores the old handling at its end.
class Signals {
 public:
  Signals() {
    sigset_t ours;
    sigemptyset(&ours);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGCHLD}) sigaddset(&ours, signal);
    sigprocmask(SIG_BLOCK, &ours, &before_);
    descriptor_ = Descriptor(signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~Signals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  int descriptor() const { return *descriptor_; }
  /// How many stop signals have come.
  int stops() {
    int count = 0;
    signalfd_siginfo info{};
    while (read(*descriptor_, &info, sizeof info) == sizeof info)
      if (info.ssi_signo != SIGCHLD) ++count;
    return count;
  }

 private:
  Descriptor descriptor_;
  sigset_t before_{};
};

class Supervisor {
 public:
  explicit Supervisor(const Supervision& supervision)
      : supervision_(supervision),
        token_(new_token()),
        chronicle_([](const std::string& line) { fmt::print(stderr, "isobar run: {}\n", line); }, supervision.log,
                   supervision.freeze_seconds),
        board_({.ranks = supervision.ranks,
                .token = token_,
                .everywhere = supervision.everywhere,
                .freeze_seconds = supervision.freeze_seconds,
                .hello_seconds = supervision.hello_seconds},
               chronicle_, [this] { return time(); }),
        relaunches_(supervision.relaunches) {}

  int run() {
    int code = exit_failed;
    for (int launch = 0;; ++launch) {
      code = launch_once(launch);
      if (board_.roster().phase() != Roster::Phase::relaunching) break;
      code = stops_ > 0 ? exit_interrupted : exit_failed;
      if (stops_ > 0 || !may_relaunch()) break;
    }
    chronicle_.ended(time(), code);
    fmt::print(stderr, "{}", chronicle_.table());
    return code;
  }

 private:
  double time() const { return now_seconds() - began_; }

  bool may_relaunch() {
    if (!board_.met_anybody() && relaunches_.used() == 0) {
      chronicle_.say(time(), fmt::format("no rank has reached the launcher at {}:{}; --address names the address of "
                                         "this machine that ranks can reach",
                                         supervision_.address, board_.port()));
      return false;
    }
    if (!relaunches_.left()) {
      chronicle_.say(time(), fmt::format("given up after {} relaunches (--relaunches)", relaunches_.limit()));
      return false;
    }
    const double pause = relaunches_.next(chronicle_.last_step());
    chronicle_.say(time(), fmt::format("relaunch {} of at most {} in {:.1f} s, from the newest checkpoint",
                                       relaunches_.used(), relaunches_.limit(), pause));
    for (const double end = time() + pause; time() < end && stops_ == 0;) turn(end - time());
    return stops_ == 0;
  }

  void turn(double most) {
    board_.turn(std::min(0.25, std::max(0.0, most)), signals_.descriptor());
    const int more = signals_.stops();
    if (more == 0) return;
    if (stops_ == 0) {
      chronicle_.say(time(),
                     "asked to stop: ranks end after the step under way and one checkpoint; a second signal ends them "
                     "at once");
      board_.stop();
    }
    stops_ += more;
  }

  // From the start of the command to its end.
  int launch_once(int launch) {
    board_.begin(launch);
    Command::Environment environment;
    for (const auto& [name, value] : supervision_.environment)
      if (!std::getenv(name.c_str())) environment.emplace_back(name, value);
    environment.emplace_back(address_variable, Address{supervision_.address, board_.port(), token_}.text());
    environment.emplace_back(launch_variable, std::to_string(launch));
    Command command(supervision_.command, environment);
    chronicle_.launched(time(), launch, supervision_.ranks.ranks, supervision_.ranks.spares, command.pid());
    attend(command);
    end(command);
    return stops_ > 1 ? exit_interrupted : board_.roster().exit_code();
  }

  // Serves the ranks while they have something to do.
  void attend(Command& command) {
    for (double ending_since = -1; !command.ended();) {
      turn(1);
      if (stops_ > 1) return;
      const Roster::Phase phase = board_.roster().phase();
      const bool ending =
          phase == Roster::Phase::failing || phase == Roster::Phase::relaunching || phase == Roster::Phase::over;
      if (ending && ending_since < 0) ending_since = time();
      if (ending && (board_.roster().ended() || time() - ending_since > seconds_to_leave)) return;
    }
  }

  // Afterwards ranks, their shields and the command are gone.
  void end(Command& command) {
    wait_for(command, board_.roster().ended() ? seconds_to_end : 0);
    for (const int signal : {0, SIGTERM, SIGKILL}) {
      if (command.ended() && board_.deserted()) break;
      if (!command.ended() && signal) command.signal(signal);
      board_.expel_all();
      wait_for(command, signal == 0 ? 1 : seconds_to_end);
    }
    board_.all_gone(fmt::format("'{}' ended with code {} before all ranks had come", supervision_.command[0],
                                command.ended().value_or(exit_failed)));
  }

  void wait_for(Command& command, double seconds) {
    for (const double limit = time() + seconds; time() < limit && !(command.ended() && board_.deserted());) turn(0.05);
  }

  const Supervision& supervision_;
  const std::string token_;
  const double began_ = now_seconds();
  Signals signals_;
  Chronicle chronicle_;
  Switchboard board_;
  Relaunches relaunches_;
  int stops_ = 0;
};

}  // namespace

int supervise(const Supervision& supervision) { return Supervisor(supervision).run(); }

}  // namespace isobar::control
