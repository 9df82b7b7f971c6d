#include "isobar/control/shield.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <glob.h>
#include <new>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isobar/base/clock.hpp"
#include "isobar/control/address.hpp"
#include "isobar/control/launcher_line.hpp"

namespace isobar::control {
namespace {

constexpr const char* shielded_variable = "ISOBAR_SHIELDED";
constexpr double seconds_to_connect_shield = 10;
LastWords* shared = nullptr;

LastWords* share_memory() {
  void* memory = mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : new (memory) LastWords;
}

void remove_matching(const std::string& pattern) {
  glob_t found{};
  if (!pattern.empty() && glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) unlink(found.gl_pathv[i]);
  globfree(&found);
}

bool condemns(LineSocket& socket) {
  bool condemned = false;
  socket.receive();
  while (const auto line = socket.next()) condemned = condemned || *line == write({.kind = Notice::Kind::expelled});
  return condemned;
}

// Signals to the shield are meant for the rank, except SIGUSR1, by which MPICH's launcher reports deaths.
void pass_on(int signals, pid_t rank) {
  signalfd_siginfo info{};
  while (read(signals, &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) kill(rank, info.ssi_signo);
}

// Returns the status of the rank when it has ended.
int watch(pid_t rank, int signals, LineSocket& socket) {
  double alone_since = 0;
  for (;;) {
    pollfd wait[] = {{signals, POLLIN, 0}, {socket.broken() ? -1 : socket.descriptor(), POLLIN, 0}};
    poll(wait, 2, socket.broken() ? 200 : -1);
    if (wait[0].revents) pass_on(signals, rank);
    if (wait[1].revents && condemns(socket)) kill(rank, SIGKILL);
    if (socket.broken()) {
      if (alone_since == 0) alone_since = now_seconds();
      if (now_seconds() - alone_since > longest_alone) kill(rank, SIGKILL);
    }
    int status = 0;
    if (waitpid(rank, &status, WNOHANG) == rank) return status;
  }
}

[[noreturn]] void be_shield(pid_t child, int signals, int rank, const Address& launcher,
                            const std::string& left_behind) {
  prctl(PR_SET_NAME, "isobar-shield");
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGUSR1, SIG_IGN);
  LineSocket socket = call_launcher(launcher, rank, true, seconds_to_connect_shield);
  const int status = watch(child, signals, socket);
  remove_matching(left_behind);
  Report died{.kind = Report::Kind::died};
  died.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  died.number = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  if (shared) {
    died.step = shared->step;
    shared->note[LastWords::longest - 1] = 0;
    died.text = shared->note;
  }
  socket.send(write(died));
  const bool told = !socket.broken();
  socket.finish(2);
  // Our launcher knows how the rank ended; MPI's own launcher must not end the others because of it.
  _exit(told ? 0 : died.signal ? 128 + died.signal : died.number);
}

}  // namespace

int launch_number() {
  const char* text = std::getenv(launch_variable);
  int number = 0;
  if (text) std::from_chars(text, text + std::strlen(text), number);
  return std::max(0, number);
}

LastWords* last_words() { return shared; }

void raise_shield(int rank, const std::string& left_behind) {
  if (!supervised() || std::getenv(shielded_variable)) return;
  const Address launcher = read_address(std::getenv(address_variable));
  setenv(shielded_variable, "1", 1);
  shared = share_memory();
  std::fflush(nullptr);
  sigset_t ours, before;
  sigemptyset(&ours);
  for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGUSR2}) sigaddset(&ours, signal);
  sigprocmask(SIG_BLOCK, &ours, &before);
  const pid_t shield = getpid(), child = fork();
  if (child > 0) be_shield(child, signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC), rank, launcher, left_behind);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return;  // the rank also works without a shield
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != shield) _exit(1);
}

}  // namespace isobar::control
