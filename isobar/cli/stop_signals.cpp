// Signals that ask for a stop: Ctrl-C, what batch systems send before they kill, and SIGUSR1, which Slurm sends as a
// warning when it is asked to (sbatch --signal).
#include <csignal>
#include <string_view>
#include <unistd.h>

#include "isobar/cli/verb.hpp"

namespace isobar::cli {
namespace {

std::atomic<bool> shows_stop = false;

void put(std::string_view text) { [[maybe_unused]] const auto told = write(STDERR_FILENO, text.data(), text.size()); }

void on_stop(int signal) {
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

}  // namespace

std::atomic<bool>& stop_requested() {
  static std::atomic<bool> stop = false;
  return stop;
}

void catch_signals(bool shows) {
  shows_stop = shows;
  stop_requested();
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
  // Some launchers send it for purposes of their own: ranks that must not hear it are started so.
  if (std::signal(SIGUSR1, on_stop) == SIG_IGN) std::signal(SIGUSR1, SIG_IGN);
}

}  // namespace isobar::cli
