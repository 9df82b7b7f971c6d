// Signals that ask for a stop. Simulations are child processes that inherit what is set up here: a terminal sends
// Ctrl-C to them too, and they have nothing to save.
#include <csignal>
#include <unistd.h>

#include "isobar/sim_cli/verb.hpp"

namespace isobar::sim_cli {
namespace {

std::atomic<pid_t> program = 0;

void on_stop(int signal) {
  if (getpid() != program) _exit(exit_interrupted);
  if (!stop_requested().exchange(true)) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

std::atomic<bool>& stop_requested() {
  static std::atomic<bool> stop = false;
  return stop;
}

void catch_signals() {
  stop_requested();
  program = getpid();
  std::signal(SIGINT, on_stop);
  std::signal(SIGTERM, on_stop);
}

}  // namespace isobar::sim_cli
