// What every kind of group must do with messages whose receivers do not know the length.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isobar/comm/comm.hpp"

namespace isobar::tests {

inline std::vector<std::byte> open_length_pattern(std::size_t count, int seed) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i)
    bytes[i] = static_cast<std::byte>(i * 29 + static_cast<std::size_t>(seed) * 11 + 1);
  return bytes;
}

/// What the program is told that it did wrong; empty if it is told nothing.
template <class F>
std::string mistake_in(F action) {
  try {
    action();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

/// Every rank sends messages of several lengths to the next one, which has room for `room` bytes; returns what went
/// wrong. All ranks must call.
inline std::string trouble_with_open_lengths(comm::Comm& comm, std::size_t room) {
  const int size = comm.size(), next = (comm.rank() + 1) % size, last = (comm.rank() + size - 1) % size;
  std::string trouble;
  for (const std::size_t length : {std::size_t{0}, std::size_t{1}, room / 2, room - 1, room, std::size_t{3}}) {
    const auto out = open_length_pattern(length, comm.rank());
    std::vector<std::byte> in(room);
    comm::Ticket receive = comm.start_receive_at_most(last, 6, in), send = comm.start_send(next, 6, out);
    receive.wait();
    send.wait();
    if (receive.bytes() != length || send.bytes() != length)
      trouble += fmt::format("{} bytes arrived and {} were sent, of {}; ", receive.bytes(), send.bytes(), length);
    in.resize(receive.bytes());
    if (in != open_length_pattern(length, last)) trouble += fmt::format("other bytes than sent, of {}; ", length);
  }
  // One whose length is known follows with the same tag.
  const auto out = open_length_pattern(5, comm.rank());
  std::vector<std::byte> in(5);
  comm::Ticket receive = comm.start_receive(last, 6, in), send = comm.start_send(next, 6, out);
  receive.wait();
  send.wait();
  if (receive.bytes() != 5 || in != open_length_pattern(5, last)) trouble += "a known length after open ones; ";
  return trouble;
}

}  // namespace isobar::tests
