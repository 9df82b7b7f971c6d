#include "isobar/comm/collectives.hpp"

#include <algorithm>
#include <cstring>

namespace isobar::comm {
namespace {

constexpr int broadcast_tag = first_reserved_tag, gather_tag = first_reserved_tag + 1,
              barrier_tag = first_reserved_tag + 2;

std::span<std::byte> as_bytes(std::uint64_t& number) { return std::as_writable_bytes(std::span(&number, 1)); }

// Every rank's block goes round once: in step s a rank hands on what its left neighbour gave it in step s - 1.
template <class Block>
void ring(Comm& comm, Block block) {
  const int size = comm.size(), right = (comm.rank() + 1) % size, left = (comm.rank() + size - 1) % size;
  for (int step = 1; step < size; ++step) {
    const int outgoing = (comm.rank() - step + 1 + size) % size, incoming = (comm.rank() - step + size) % size;
    Ticket receive = comm.start_receive(left, gather_tag, block(incoming));
    Ticket send = comm.start_send(right, gather_tag, block(outgoing));
    receive.wait();
    send.wait();
  }
}

// A dissemination barrier, unless `finish`, called for every message, gives up.
template <class Finish>
bool meet(Comm& comm, Finish finish) {
  const int size = comm.size();
  for (int distance = 1; distance < size; distance *= 2) {
    Ticket receive = comm.start_receive((comm.rank() + size - distance) % size, barrier_tag, {});
    Ticket send = comm.start_send((comm.rank() + distance) % size, barrier_tag, {});
    if (!finish(receive) || !finish(send)) return false;
  }
  return true;
}

}  // namespace

void broadcast(Comm& comm, Bytes& bytes, int root) {
  const int size = comm.size(), place = (comm.rank() - root + size) % size;  // the root is at place 0
  std::uint64_t length = bytes.size();
  int reach = 1;  // a rank at place p hears from p without its highest bit, then tells p + reach while that exists
  while (reach <= place) reach *= 2;
  if (place > 0) {
    const int from = (place - reach / 2 + root) % size;
    comm.receive(from, broadcast_tag, as_bytes(length));
    bytes.resize(length);
    comm.receive(from, broadcast_tag, bytes);
  }
  for (; place + reach < size; reach *= 2) {
    const int to = (place + reach + root) % size;
    comm.send(to, broadcast_tag, as_bytes(length));
    comm.send(to, broadcast_tag, bytes);
  }
}

std::vector<Bytes> all_gather(Comm& comm, std::span<const std::byte> mine) {
  const auto size = static_cast<std::size_t>(comm.size()), self = static_cast<std::size_t>(comm.rank());
  std::vector<std::uint64_t> lengths(size);
  lengths[self] = mine.size();
  ring(comm, [&](int rank) { return as_bytes(lengths[static_cast<std::size_t>(rank)]); });
  std::vector<Bytes> blocks(size);
  for (std::size_t rank = 0; rank < size; ++rank) blocks[rank].resize(lengths[rank]);
  blocks[self].assign(mine.begin(), mine.end());
  ring(comm, [&](int rank) { return std::span<std::byte>(blocks[static_cast<std::size_t>(rank)]); });
  return blocks;
}

std::vector<std::int64_t> all_gather_number(Comm& comm, std::int64_t mine) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(comm.size()));
  numbers[static_cast<std::size_t>(comm.rank())] = mine;
  ring(comm, [&](int rank) { return std::as_writable_bytes(std::span(&numbers[static_cast<std::size_t>(rank)], 1)); });
  return numbers;
}

double all_largest(Comm& comm, double mine) {
  std::vector<double> numbers(static_cast<std::size_t>(comm.size()));
  numbers[static_cast<std::size_t>(comm.rank())] = mine;
  ring(comm, [&](int rank) { return std::as_writable_bytes(std::span(&numbers[static_cast<std::size_t>(rank)], 1)); });
  return *std::ranges::max_element(numbers);
}

void barrier(Comm& comm) {
  meet(comm, [](Ticket& ticket) { return ticket.wait(), true; });
}

bool barrier_within(Comm& comm, double seconds) {
  const double end = comm.now() + seconds;
  return meet(comm, [&](Ticket& ticket) { return ticket.wait_for(std::max(0.0, end - comm.now())); });
}

}  // namespace isobar::comm
