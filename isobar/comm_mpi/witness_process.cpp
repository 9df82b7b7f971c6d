#include "isobar/comm_mpi/witness_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace isobar::comm_mpi {
namespace {

constexpr int most_ranks = Notes::slots;
constexpr double patience_with_the_first = 60, patience_with_the_last = 10;

struct Guest {
  int socket = -1;
  int pid = 0;
  int rank = -1;
  int slot = -1;
  bool said_goodbye = false;
};

struct Room {
  Guest guests[most_ranks];
  int present = 0;
  bool failing = false;  // the reason has been reported: ranks that end now end because of it
  double since = 0;
};

Room room;  // used only in the witness process

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void fails() {
  if (room.failing) return;
  room.failing = true;
  room.since = seconds();
}

// Control characters would end the line.
void copy_line(char* target, const char* source, std::size_t length) {
  std::size_t i = 0;
  for (; i + 1 < length && source[i]; ++i) target[i] = static_cast<unsigned char>(source[i]) < 32 ? ' ' : source[i];
  target[i] = 0;
}

void accept_guest(int events, int listener) {
  const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (socket < 0) return;
  ucred who{};
  socklen_t length = sizeof who;
  int place = 0;
  while (place < most_ranks && room.guests[place].socket >= 0) ++place;
  if (place == most_ranks || getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0 || who.uid != getuid()) {
    close(socket);
    return;
  }
  room.guests[place] = {socket, who.pid, -1, -1, false};
  ++room.present;
  // The list of ready sockets keeps the order in which they were closed: the first belongs to the rank that died.
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLET;
  event.data.u32 = place + 1;
  epoll_ctl(events, EPOLL_CTL_ADD, socket, &event);
}

// How the process ended, from the last number of its status, which the kernel keeps until the launcher has read it.
void describe_end(int pid, char* text, std::size_t length) {
  std::snprintf(text, length, "was killed, crashed or left");
  char path[64], status[2048];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  const ssize_t got = read(file, status, sizeof status - 1);
  close(file);
  if (got <= 0) return;
  status[got] = 0;
  const char* last = std::strrchr(status, ' ');
  if (!last || !std::strchr(status, ')')) return;
  const long code = std::strtol(last, nullptr, 10);
  if ((code & 127) > 0) std::snprintf(text, length, "was ended by signal %ld", code & 127);
  else if (code > 0) std::snprintf(text, length, "left with exit code %ld", code >> 8);
}

void tell_death(const Guest& dead, int tell, const Notes& notes) {
  char host[200] = "?", note[Notes::length] = {}, doing[Notes::length + 40] = {}, end[64];
  describe_end(dead.pid, end, sizeof end);
  gethostname(host, sizeof host - 1);
  if (dead.slot >= 0 && dead.slot < Notes::slots) copy_line(note, notes.text[dead.slot], sizeof note);
  if (note[0]) std::snprintf(doing, sizeof doing, "; its last note: %s", note);
  WitnessWord word;
  word.kind = WitnessWord::Kind::death;
  word.rank = dead.rank;
  std::snprintf(word.text, sizeof word.text, "[rank %d] died (process %d on %s %s)%s", dead.rank, dead.pid, host, end,
                doing);
  char line[sizeof word.text + 20];
  const int length = std::snprintf(line, sizeof line, "isobar: %s\n", word.text);
  if (length > 0 && write(tell, line, length) < 0) return;  // the user is gone too
  for (const Guest& guest : room.guests)
    if (guest.socket >= 0) send(guest.socket, &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void hear(Guest& guest, int tell, const Notes& notes) {
  for (;;) {
    WitnessWord word;
    const ssize_t got = recv(guest.socket, &word, sizeof word, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) break;
    if (got != sizeof word) continue;
    if (word.kind == WitnessWord::Kind::hello) guest.rank = word.rank, guest.slot = word.slot;
    if (word.kind == WitnessWord::Kind::failing) fails();
    if (word.kind == WitnessWord::Kind::goodbye) guest.said_goodbye = true;
  }
  close(guest.socket);
  guest.socket = -1;
  --room.present;
  if (guest.said_goodbye || guest.rank < 0 || room.failing) return;
  fails();
  tell_death(guest, tell, notes);
}

}  // namespace

void bear_witness(int listener, int tell, const Notes& notes) {
  const int events = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(events, EPOLL_CTL_ADD, listener, &event);
  const double begin = seconds();
  room = {};
  for (bool anybody = false; !anybody || room.present > 0;) {
    epoll_event ready[16];
    const int count = epoll_wait(events, ready, 16, 1000);
    if (count < 0 && errno != EINTR) return;
    for (int i = 0; i < count; ++i) {
      const std::uint32_t place = ready[i].data.u32;
      if (place == 0) accept_guest(events, listener);
      else hear(room.guests[place - 1], tell, notes);
    }
    anybody = anybody || room.present > 0;
    if (!anybody && seconds() - begin > patience_with_the_first) return;
    if (room.failing && seconds() - room.since > patience_with_the_last)  // a rank that is still here waits inside MPI
      for (const Guest& guest : room.guests)
        if (guest.socket >= 0) kill(guest.pid, SIGKILL);
  }
}

}  // namespace isobar::comm_mpi
