// LineSocket: a TCP socket that carries lines and never blocks. Its memory is bounded: if a peer sends a line that is
// too long, or does not read its answers, the socket counts as broken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "isobar/base/descriptor.hpp"

namespace isobar::control {

class LineSocket {
 public:
  /// Takes ownership of a socket; none counts as broken. Lines of more than `longest` bytes break it.
  LineSocket(Descriptor socket, std::size_t longest);

  int descriptor() const { return *socket_; }
  /// The other end has gone, or broke the rules: nothing more will come except the lines already received.
  bool broken() const { return broken_; }
  /// Whether something waits to be sent: if so, poll for writing and call flush().
  bool sending() const { return !out_.empty(); }

  /// Reads what has arrived; does not wait.
  void receive();
  /// The next complete line that has arrived.
  std::optional<std::string> next();
  /// Begins to send a line.
  void send(std::string_view line);
  void flush();
  /// Closes the sending side, and waits at most `seconds` until the other end has read everything and closed.
  void finish(double seconds);

 private:
  Descriptor socket_;
  std::size_t longest_ = 0, begin_ = 0;
  bool broken_ = false;
  std::string in_, out_;
};

/// Connects within `seconds`; none if there is no answer.
Descriptor connect_to(const std::string& host, std::uint16_t port, double seconds);

struct ListeningSocket {
  Descriptor socket{};
  std::uint16_t port = 0;
};
/// Listens for IPv4 and, where available, IPv6 connections: only from this machine, or on all its addresses.
ListeningSocket listen_on(bool everywhere);

}  // namespace isobar::control
