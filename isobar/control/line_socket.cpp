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

int connect_one(const addrinfo& to, double deadline) {
  const int made = socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return -1;
  int problem = connect(made, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (problem == EINPROGRESS) {
    pollfd wait{made, POLLOUT, 0};
    const double left = std::max(0.0, deadline - now_seconds());
    socklen_t size = sizeof problem;
    if (poll(&wait, 1, static_cast<int>(left * 1e3)) != 1 ||
        getsockopt(made, SOL_SOCKET, SO_ERROR, &problem, &size) != 0)
      problem = ETIMEDOUT;
  }
  if (problem == 0) return made;
  close(made);
  return -1;
}

}  // namespace

void close_descriptor(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

LineSocket::LineSocket(int socket, std::size_t longest) : socket_(socket), longest_(longest), broken_(socket < 0) {
  if (broken_) return;
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
  fcntl(socket_, F_SETFD, FD_CLOEXEC);
  const int yes = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(socket_, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds_unanswered, sizeof milliseconds_unanswered);
}

LineSocket::~LineSocket() { close_descriptor(socket_); }

LineSocket::LineSocket(LineSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      longest_(other.longest_),
      begin_(other.begin_),
      broken_(other.broken_),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)) {}

LineSocket& LineSocket::operator=(LineSocket&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(longest_, other.longest_);
  std::swap(begin_, other.begin_);
  std::swap(broken_, other.broken_);
  in_.swap(other.in_);
  out_.swap(other.out_);
  return *this;
}

// The amount read at once is bounded, so that a peer that sends without end does not keep others waiting.
void LineSocket::receive() {
  in_.erase(0, std::exchange(begin_, 0));
  char bytes[8192];
  for (int turn = 0; turn < 8 && !broken_; ++turn) {
    const ssize_t count = recv(socket_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) in_.append(bytes, static_cast<std::size_t>(count));
    else if (count == 0 || !again()) broken_ = true;
    if (count < static_cast<ssize_t>(sizeof bytes)) return;
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
    const ssize_t count = ::send(socket_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && again()) return;
    if (count <= 0) broken_ = true;
    else out_.erase(0, static_cast<std::size_t>(count));
  }
}

void LineSocket::finish(double seconds) {
  const double end = now_seconds() + seconds;
  if (socket_ >= 0) shutdown(socket_, SHUT_WR);
  for (double left = seconds; !broken_ && left > 0; left = end - now_seconds()) {
    pollfd wait{socket_, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(left * 1e3) + 1) > 0) receive();
    while (next()) {
    }
  }
}

int connect_to(const std::string& host, std::uint16_t port, double seconds) {
  const double deadline = now_seconds() + seconds;
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0) return -1;
  int made = -1;
  for (const addrinfo* each = found; each && made < 0; each = each->ai_next) made = connect_one(*each, deadline);
  freeaddrinfo(found);
  return made;
}

namespace {

ListeningSocket listen_on_family(int family, bool everywhere) {
  ListeningSocket listener;
  sockaddr_storage address{};
  address.ss_family = static_cast<sa_family_t>(family);
  auto& four = reinterpret_cast<sockaddr_in&>(address);
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  if (family == AF_INET) four.sin_addr.s_addr = htonl(everywhere ? INADDR_ANY : INADDR_LOOPBACK);
  else six.sin6_addr = in6addr_any;
  listener.socket = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener.socket < 0) return listener;
  const int no = 0;
  if (family == AF_INET6) setsockopt(listener.socket, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
  socklen_t size = family == AF_INET ? sizeof four : sizeof six;
  if (bind(listener.socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      listen(listener.socket, SOMAXCONN) == 0 &&
      getsockname(listener.socket, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    listener.port = ntohs(family == AF_INET ? four.sin_port : six.sin6_port);
  else close_descriptor(listener.socket);
  return listener;
}

}  // namespace

ListeningSocket listen_on(bool everywhere) {
  ListeningSocket listener;
  if (everywhere) listener = listen_on_family(AF_INET6, true);
  if (listener.socket < 0) listener = listen_on_family(AF_INET, everywhere);
  if (listener.socket < 0) fail("the launcher cannot listen for its ranks: {}", std::strerror(errno));
  return listener;
}

}  // namespace isobar::control
