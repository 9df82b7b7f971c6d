#include "isobar/comm/collectives.hpp"

#include <algorithm>

#include "isobar/comm/reserved_tags.hpp"
#include "isobar/comm/schedule.hpp"
#include "isobar/comm/walk.hpp"

namespace isobar::comm {
namespace {

constexpr double between_looks = 0.05;

std::span<std::byte> as_bytes(std::uint64_t& number) { return std::as_writable_bytes(std::span(&number, 1)); }

void wait(Ticket& ticket, const Look& look) {
  if (!look) return ticket.wait();
  while (!ticket.wait_for(between_looks)) look();
}

// Every block goes round once: in step s a rank passes on what it got from its left neighbour in step s - 1. `rank_at`
// returns the rank at a place of the ring, `block` the bytes of a place.
template <class RankAt, class Block>
void ring(Comm& comm, int size, int place, RankAt rank_at, Block block) {
  const int right = rank_at((place + 1) % size), left = rank_at((place + size - 1) % size);
  for (int step = 1; step < size; ++step) {
    const int outgoing = (place - step + 1 + size) % size, incoming = (place - step + size) % size;
    Ticket receive = comm.start_receive(left, all_gather_tag, block(incoming));
    Ticket send = comm.start_send(right, all_gather_tag, block(outgoing));
    receive.wait();
    send.wait();
  }
}

template <class Block>
void ring(Comm& comm, Block block) {
  ring(comm, comm.size(), comm.rank(), std::identity(), block);
}

// Few numbers: what counts is how many rounds there are.
void combine_over_ranks(Comm& comm, const Numbers& numbers, const Look& look = {}) {
  static const std::unique_ptr<Algorithm> doubling = make(all_reduces(), "recursive_doubling", "all-reduce");
  const Schedule schedule = doubling->schedule(comm.group(), numbers.count());
  Walk walk(comm, schedule, numbers, few_numbers_tag);
  while (!walk.advance()) {
    walk.wait(between_looks);
    if (look) look();
  }
}

// A dissemination barrier; ends early if `finish`, which is called for every message, gives up.
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

void broadcast(Comm& comm, std::span<std::byte> bytes, int root) {
  constexpr std::size_t piece = std::size_t{64} << 20;  // bounds the copies that the message library may make
  const int size = comm.size(), place = (comm.rank() - root + size) % size;  // the root is at place 0
  int reach = 1;  // place p receives from p without its highest bit, then sends to p + reach while that exists
  while (reach <= place) reach *= 2;
  for (std::size_t first = 0; first < bytes.size(); first += piece) {
    const auto part = bytes.subspan(first, std::min(piece, bytes.size() - first));
    if (place > 0) comm.receive((place - reach / 2 + root) % size, broadcast_tag, part);
    for (int distance = reach; place + distance < size; distance *= 2)
      comm.send((place + distance + root) % size, broadcast_tag, part);
  }
}

void gather(Comm& comm, std::span<const std::byte> mine,
            const std::function<void(int rank, std::span<const std::byte> theirs)>& take) {
  std::uint64_t length = mine.size();
  if (comm.rank() > 0) {
    comm.send(0, gather_tag, as_bytes(length));
    comm.send(0, gather_tag, mine);
    return;
  }
  take(0, mine);
  Bytes theirs;
  for (int rank = 1; rank < comm.size(); ++rank) {
    comm.receive(rank, gather_tag, as_bytes(length));
    theirs.resize(length);
    comm.receive(rank, gather_tag, theirs);
    take(rank, theirs);
  }
}

void scatter(Comm& comm, std::span<const std::byte> all, std::span<std::byte> mine) {
  if (comm.rank() > 0) return comm.receive(0, scatter_tag, mine);
  expects(all.size() == mine.size() * static_cast<std::size_t>(comm.size()), "a part for every rank");
  for (int rank = 1; rank < comm.size(); ++rank)
    comm.send(rank, scatter_tag, all.subspan(mine.size() * static_cast<std::size_t>(rank), mine.size()));
  std::ranges::copy(all.first(mine.size()), mine.begin());
}

std::vector<Bytes> all_gather(Comm& comm, std::span<const std::byte> mine) {
  std::vector<Bytes> blocks;
  for (const std::int64_t length : all_gather_number(comm, static_cast<std::int64_t>(mine.size())))
    blocks.emplace_back(static_cast<std::size_t>(length));
  blocks[static_cast<std::size_t>(comm.rank())].assign(mine.begin(), mine.end());
  ring(comm, [&](int rank) { return std::span<std::byte>(blocks[static_cast<std::size_t>(rank)]); });
  return blocks;
}

std::vector<Bytes> all_gather_among(Comm& comm, std::span<const int> ranks, std::span<const std::byte> mine) {
  const auto place = std::ranges::find(ranks, comm.rank()) - ranks.begin();
  std::vector<Bytes> blocks(ranks.size(), Bytes(mine.size()));
  blocks.at(static_cast<std::size_t>(place)).assign(mine.begin(), mine.end());
  ring(
      comm, static_cast<int>(ranks.size()), static_cast<int>(place),
      [&](int each) { return ranks[static_cast<std::size_t>(each)]; },
      [&](int each) { return std::span<std::byte>(blocks[static_cast<std::size_t>(each)]); });
  return blocks;
}

std::vector<std::int64_t> all_gather_number(Comm& comm, std::int64_t mine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(comm.size()));
  all[static_cast<std::size_t>(comm.rank())] = mine;
  ring(comm, [&](int rank) { return std::as_writable_bytes(std::span(&all[static_cast<std::size_t>(rank)], 1)); });
  return all;
}

double all_largest(Comm& comm, double mine) {
  combine_over_ranks(comm, {std::span(&mine, 1), Combine::largest});
  return mine;
}

void sum_over_ranks(Comm& comm, std::span<std::int64_t> numbers, const Look& look) {
  combine_over_ranks(comm, numbers, look);
}

void barrier(Comm& comm, const Look& look) {
  meet(comm, [&](Ticket& ticket) { return wait(ticket, look), true; });
}

bool barrier_within(Comm& comm, double seconds) {
  const double end = comm.now() + seconds;
  return meet(comm, [&](Ticket& ticket) { return ticket.wait_for(std::max(0.0, end - comm.now())); });
}

}  // namespace isobar::comm
