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
#include "isobar/comm_mpi/witness_process.hpp"

namespace isobar::comm_mpi {
namespace {

// What ranks of a node send each other: where the witness listens, and where the notes are.
struct Place {
  char name[32] = {};  // its length, then the name; length 0: no witness
  int pid = 0, notes = -1;
};

int connect_to(const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name + 1, static_cast<std::size_t>(name[0]));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path)) + static_cast<socklen_t>(name[0]);
  const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  ucred who{};
  socklen_t size = sizeof who;
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), length) == 0 &&
      getsockopt(made, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == getuid())
    return made;
  close(made);
  return -1;
}

// The kernel chooses an unused name.
int listen_somewhere(char* name, std::size_t longest) {
  const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (listener < 0) return -1;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof address;
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address.sun_family) == 0 &&
      listen(listener, Notes::slots) == 0 &&
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) == 0) {
    const std::size_t bytes = length - offsetof(sockaddr_un, sun_path);
    if (bytes > 0 && bytes < longest) {
      name[0] = static_cast<char>(bytes);
      std::memcpy(name + 1, address.sun_path, bytes);
      return listener;
    }
  }
  close(listener);
  return -1;
}

Notes* map_notes(int file) {
  void* memory = mmap(nullptr, sizeof(Notes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Notes*>(memory);
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
  notes_file_ = memfd_create("isobar-notes", MFD_CLOEXEC);
  if (notes_file_ < 0 || ftruncate(notes_file_, sizeof(Notes)) != 0) return;
  notes_ = map_notes(notes_file_);
  const int listener = notes_ ? listen_somewhere(name_, sizeof name_) : -1;
  if (listener < 0) return;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {  // its child becomes an orphan, so that no rank must wait for it
    if (fork() == 0) become_witness(listener, *notes_);
    _exit(0);
  }
  if (child > 0) waitpid(child, nullptr, 0);
  socket_ = child > 0 ? connect_to(name_) : -1;
  if (socket_ < 0) name_[0] = 0;
  close(listener);
}

Witness::~Witness() {
  if (socket_ >= 0) close(socket_);
  if (notes_) munmap(notes_, sizeof(Notes));
  if (notes_file_ >= 0) close(notes_file_);
}

void Witness::meet(MPI_Comm node, int rank) {
  int size = 1, place = 0;
  MPI_Comm_size(node, &size);
  MPI_Comm_rank(node, &place);
  Place mine;
  std::memcpy(mine.name, name_, sizeof name_);
  mine.pid = getpid();
  mine.notes = notes_file_;
  std::vector<Place> all(static_cast<std::size_t>(size));
  call(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, node), "agree on a witness");
  const auto chosen = std::ranges::find_if(all, [](const Place& each) { return each.name[0] > 0; });
  if (chosen == all.end() || size > Notes::slots) return;
  rank_ = rank;
  slot_ = place;
  if (chosen - all.begin() != place) {  // this rank's own witness ends when no socket leads to it
    if (socket_ >= 0) close(socket_);
    if (notes_) munmap(notes_, sizeof(Notes));
    if (notes_file_ >= 0) close(notes_file_);
    socket_ = connect_to(chosen->name);
    notes_file_ = open(fmt::format("/proc/{}/fd/{}", chosen->pid, chosen->notes).c_str(), O_RDWR | O_CLOEXEC);
    notes_ = notes_file_ >= 0 ? map_notes(notes_file_) : nullptr;
  }
  say(static_cast<int>(WitnessWord::Kind::hello));
}

void Witness::say(int kind) {
  const std::lock_guard lock(mutex_);
  if (socket_ < 0) return;
  WitnessWord word;
  word.kind = static_cast<WitnessWord::Kind>(kind);
  word.rank = rank_;
  word.slot = slot_;
  send(socket_, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Witness::failing() { say(static_cast<int>(WitnessWord::Kind::failing)); }
void Witness::goodbye() { say(static_cast<int>(WitnessWord::Kind::goodbye)); }

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
  if (socket_ < 0 || recv(socket_, &word, sizeof word, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof word)) return {};
  if (word.kind != WitnessWord::Kind::death) return {};
  word.text[sizeof word.text - 1] = 0;
  return Death{word.rank, word.text};
}

}  // namespace isobar::comm_mpi
