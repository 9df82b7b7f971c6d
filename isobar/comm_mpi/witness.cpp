#include "isobar/comm_mpi/witness.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "isobar/comm_mpi/launch.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"

namespace isobar::comm_mpi {
namespace {

// What ranks of a node send each other: where the witness listens, and where the notes are.
struct Place {
  char name[32] = {};  // its length, then the name; length 0: no witness
  int pid = 0, notes = -1;
};

Descriptor connect_to(const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name + 1, name[0]);
  const socklen_t length = offsetof(sockaddr_un, sun_path) + name[0];
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  ucred who{};
  socklen_t size = sizeof who;
  const bool ours = connect(*made, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
                    getsockopt(*made, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid();
  return ours ? std::move(made) : Descriptor();
}

// The kernel chooses an unused name.
Descriptor listen_somewhere(char* name, std::size_t longest) {
  Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof address;
  if (bind(*listener, reinterpret_cast<const sockaddr*>(&address), sizeof address.sun_family) != 0 ||
      listen(*listener, Notes::slots) != 0 ||
      getsockname(*listener, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return Descriptor();
  const std::size_t bytes = length - offsetof(sockaddr_un, sun_path);
  if (bytes == 0 || bytes >= longest) return Descriptor();
  name[0] = static_cast<char>(bytes);
  std::memcpy(name + 1, address.sun_path, bytes);
  return listener;
}

// Closes everything the rank had open except where the user reads: launchers wait for that to be closed.
[[noreturn]] void become_witness(int listener, const Notes& notes) {
  setsid();
  prctl(PR_SET_NAME, "isobar-witness");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGUSR2}) std::signal(signal, SIG_IGN);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(nothing, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(listener, 3);
  closefrom(4);
  if (chdir("/") != 0) _exit(1);
  bear_witness(3, STDERR_FILENO, notes);
  _exit(0);
}

}  // namespace

Witness::Witness() {
  if (launched().ranks == 1 || launched_local_rank() > 0) return;
  Descriptor file(memfd_create("isobar-notes", MFD_CLOEXEC));
  if (ftruncate(*file, sizeof(Notes)) != 0) return;
  open_notes(std::move(file));
  const Descriptor listener = notes_ ? listen_somewhere(name_, sizeof name_) : Descriptor();
  if (!listener) return;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {  // its child becomes an orphan, so that no rank must wait for it
    if (fork() == 0) become_witness(*listener, *notes_);
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
  if (child > 0) socket_ = connect_to(name_);
  if (!socket_) name_[0] = 0;
}

void Witness::Unmap::operator()(Notes* notes) const { munmap(notes, sizeof(Notes)); }

void Witness::open_notes(Descriptor file) {
  notes_file_ = std::move(file);
  void* memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED, *notes_file_, 0);
  notes_.reset(memory == MAP_FAILED ? nullptr : static_cast<Notes*>(memory));
}

void Witness::meet(MPI_Comm node, int rank) {
  int size = 1, place = 0;
  MPI_Comm_size(node, &size);
  MPI_Comm_rank(node, &place);
  Place mine{.pid = getpid(), .notes = *notes_file_};
  std::memcpy(mine.name, name_, sizeof name_);
  std::vector<Place> all(size);
  call(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node), "agree on a witness");
  const auto chosen = std::ranges::find_if(all, [](const Place& each) { return each.name[0] > 0; });
  if (chosen == all.end() || size > Notes::slots) return;
  rank_ = rank;
  slot_ = place;
  if (chosen - all.begin() != place) {  // this rank's own witness ends when no socket leads to it
    socket_ = connect_to(chosen->name);
    open_notes(Descriptor(open(fmt::format("/proc/{}/fd/{}", chosen->pid, chosen->notes).c_str(), O_RDWR | O_CLOEXEC)));
  }
  say(WitnessWord::Kind::hello);
}

void Witness::say(WitnessWord::Kind kind) {
  const std::lock_guard lock(mutex_);
  const WitnessWord word{.kind = kind, .rank = rank_, .slot = slot_};
  if (socket_) send(*socket_, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Witness::failing() {
  if (!said_failing_.exchange(true)) say(WitnessWord::Kind::failing);
}

void Witness::note(const std::string& what) {
  if (!notes_ || slot_ < 0) return;
  char* text = notes_->text[slot_];
  const std::size_t length = std::min<std::size_t>(what.size(), Notes::length - 1);
  std::memcpy(text, what.data(), length);
  text[length] = 0;
}

std::optional<Witness::Death> Witness::heard() {
  const std::lock_guard lock(mutex_);
  WitnessWord word;
  if (!socket_ || recv(*socket_, &word, sizeof word, MSG_DONTWAIT) != sizeof word) return {};
  if (word.kind != WitnessWord::Kind::death) return {};
  word.text[sizeof word.text - 1] = 0;
  return Death{word.rank, word.text};
}

}  // namespace isobar::comm_mpi
