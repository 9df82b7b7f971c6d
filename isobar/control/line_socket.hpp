// LineSocket: a TCP socket that carries lines and never blocks. What a peer can make it hold is bounded: one line too
// long, or an answer that is not fetched, and it counts as broken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace isobar::control {

class LineSocket {
 public:
  /// Takes over a socket, -1 counts as broken; lines of more than `longest` bytes break it.
  LineSocket(int socket, std::size_t longest);
  ~LineSocket();
  LineSocket(LineSocket&& other) noexcept;
  LineSocket& operator=(LineSocket&& other) noexcept;

  int descriptor() const { return socket_; }
  /// The other end has gone, or was not worth listening to: nothing more will come but the lines already here.
  bool broken() const { return broken_; }
  /// Whether something waits to be sent: poll for writing then, and call flush().
  bool sending() const { return !out_.empty(); }

  /// Takes what has arrived; does not wait.
  void receive();
  /// The next whole line that has arrived.
  std::optional<std::string> next();
  /// Begins to send a line.
  void send(std::string_view line);
  void flush();
  /// Says that nothing more will be sent, and waits at most so long until the other end has read all and closed.
  void finish(double seconds);

 private:
  int socket_ = -1;
  std::size_t longest_ = 0, begin_ = 0;
  bool broken_ = false;
  std::string in_, out_;
};

/// Connects within so many seconds; -1 when nobody answers there.
int connect_to(const std::string& host, std::uint16_t port, double seconds);

struct ListeningSocket {
  int socket = -1;
  std::uint16_t port = 0;
};
/// Listens for IPv4 and, where there is one, IPv6 connections: on this machine alone or on all its addresses.
ListeningSocket listen_on(bool everywhere);

/// Closes whatever descriptor is set, once.
void close_descriptor(int& descriptor);

}  // namespace isobar::control
