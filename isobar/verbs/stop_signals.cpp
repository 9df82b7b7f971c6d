// Signals that request a stop: Ctrl-C, the signal that batch systems send before they kill, and SIGUSR1, which Slurm
// sends as a warning on request (sbatch --signal).
#include <array>
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

// Some kernels that oneDNN generates use the stack pointer as one more register while they compute: a handler on the
// stack of the thread would then write into their data. Signals to a process are handled on its main thread.
void catch_one(int signal) {
  alignas(16) static std::array<char, 1 << 16> memory;
  stack_t other{};
  if (sigaltstack(nullptr, &other) == 0 && (other.ss_flags & SS_DISABLE)) {
    other = {memory.data(), 0, memory.size()};
    sigaltstack(&other, nullptr);
  }
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

void catch_both() {
  stop_requested();
  catch_one(SIGINT);
  catch_one(SIGTERM);
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
  struct sigaction before {};
  if (sigaction(SIGUSR1, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) catch_one(SIGUSR1);
}

void catch_signals_with_children() {
  parent = getpid();
  catch_both();
}

}  // namespace isobar
