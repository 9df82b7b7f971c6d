#include "isobar/control/line_socket.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"

namespace isobar::control {
namespace {

constexpr std::size_t most_unsent = 1 << 20;
// A machine that vanishes closes no sockets, but it does not acknowledge what is sent to it.
constexpr unsigned milliseconds_unanswered = 10'000;

bool again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

Descriptor connect_one(const addrinfo& to, double deadline) {
  Descriptor made(socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int problem = connect(*made, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (problem == EINPROGRESS) {
    pollfd wait{*made, POLLOUT, 0};
    const double left = std::max(0.0, deadline - now_seconds());
    socklen_t size = sizeof problem;
    if (poll(&wait, 1, static_cast<int>(left * 1e3)) != 1 ||
        getsockopt(*made, SOL_SOCKET, SO_ERROR, &problem, &size) != 0)
      problem = ETIMEDOUT;
  }
  return problem == 0 ? std::move(made) : Descriptor();
}

ListeningSocket listen_on_family(int family, bool everywhere) {
  sockaddr_storage address{};
  address.ss_family = family;
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  if (family == AF_INET) four.sin_addr.s_addr = htonl(everywhere ? INADDR_ANY : INADDR_LOOPBACK);
  else six.sin6_addr = in6addr_any;
  Descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int no = 0;
  if (family == AF_INET6) setsockopt(*made, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  socklen_t size = family == AF_INET ? sizeof four : sizeof six;
  if (bind(*made, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(*made, SOMAXCONN) != 0 ||
      getsockname(*made, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return {};
  return {std::move(made), ntohs(family == AF_INET ? four.sin_port : six.sin6_port)};
}

}  // namespace

LineSocket::LineSocket(Descriptor socket, std::size_t longest)
    : socket_(std::move(socket)), longest_(longest), broken_(!socket_) {
  if (broken_) return;
  fcntl(*socket_, F_SETFL, fcntl(*socket_, F_GETFL) | O_NONBLOCK);
  fcntl(*socket_, F_SETFD, FD_CLOEXEC);
  const int yes = 1;
  setsockopt(*socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(*socket_, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds_unanswered, sizeof milliseconds_unanswered);
}

// The amount read at once is bounded, so that a peer that sends without end does not keep others waiting.
void LineSocket::receive() {
  in_.erase(0, std::exchange(begin_, 0));
  char bytes[8192];
  for (int turn = 0; turn < 8 && !broken_; ++turn) {
    const ssize_t count = recv(*socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) in_.append(bytes, count);
    else if (count == 0 || !again()) broken_ = true;
    if (count < std::ssize(bytes)) return;
  }
}

std::optional<std::string> LineSocket::next() {
  const auto end = in_.find('\n', begin_);
  const std::size_t length = (end == in_.npos ? in_.size() : end) - begin_;
  if (length > longest_) {
    broken_ = true;
    in_.clear();
    begin_ = 0;
    return {};
  }
  if (end == in_.npos) return {};
  std::string line = in_.substr(begin_, length);
  begin_ = end + 1;
  return line;
}

void LineSocket::send(std::string_view line) {
  if (broken_) return;
  out_.append(line);
  out_ += '\n';
  flush();
  if (out_.size() > most_unsent) broken_ = true;
}

void LineSocket::flush() {
  while (!out_.empty() && !broken_) {
    const ssize_t count = ::send(*socket_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && again()) return;
    if (count <= 0) broken_ = true;
    else out_.erase(0, count);
  }
}

void LineSocket::finish(double seconds) {
  const double end = now_seconds() + seconds;
  if (socket_) shutdown(*socket_, SHUT_WR);
  for (double left = seconds; !broken_ && left > 0; left = end - now_seconds()) {
    pollfd wait{*socket_, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left * 1e3) + 1) > 0) receive();
    while (next()) {
    }
  }
}

Descriptor connect_to(const std::string& host, std::uint16_t port, double seconds) {
  const double deadline = now_seconds() + seconds;
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return Descriptor();
  Descriptor made;
  for (const addrinfo* each = found; each && !made; each = each->ai_next) made = connect_one(*each, deadline);
  freeaddrinfo(found);
  return made;
}

ListeningSocket listen_on(bool everywhere) {
  ListeningSocket listener;
  if (everywhere) listener = listen_on_family(AF_INET6, true);
  if (!listener.socket) listener = listen_on_family(AF_INET, everywhere);
  if (!listener.socket) fail("the launcher cannot listen for its ranks: {}", std::strerror(errno));
  return listener;
}

}  // namespace isobar::control
