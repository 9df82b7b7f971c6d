// Signals that request a stop: Ctrl-C, the signal that batch systems send before they kill, and SIGUSR1, which Slurm
// sends as a warning on request (sbatch --signal).
#include <csignal>
#include <string_view>
#include <unistd.h>

#include "isobar/verbs/verb.hpp"

namespace isobar {
namespace {

std::atomic<bool> shows_stop = false;
std::atomic<pid_t> parent = 0;  // 0: children are like any process

void put(std::string_view text) { [[maybe_unused]] const auto told = write(STDERR_FILENO, text.data(), text.size()); }

void on_stop(int signal) {
  // A terminal sends Ctrl-C to child processes too, and they have nothing to save.
  if (parent != 0 && getpid() != parent) _exit(exit_interrupted);
  if (stop_requested().exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  if (!shows_stop) return;
  put("\nisobar: ");
  put(signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGUSR1");
  put(": the run stops within one step and one checkpoint, and can be resumed; a second signal ends it at once\n");
}

void catch_both() {
  stop_requested();
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
}

}  // namespace

std::atomic<bool>& stop_requested() {
  static std::atomic<bool> stop = false;
  return stop;
}

void catch_signals(bool shows) {
  shows_stop = shows;
  catch_both();
  // Some launchers use this signal for their own purposes and start ranks with it ignored.
  if (std::signal(SIGUSR1, on_stop) == SIG_IGN) std::signal(SIGUSR1, SIG_IGN);
}

void catch_signals_with_children() {
  parent = getpid();
  catch_both();
}

}  // namespace isobar
