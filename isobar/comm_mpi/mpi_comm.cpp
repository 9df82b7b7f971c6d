#include "isobar/comm_mpi/mpi_comm.hpp"

#include <algorithm>
#include <cstring>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm_mpi/balance.hpp"
#include "isobar/comm_mpi/mapped_memory.hpp"
#include "isobar/comm_mpi/mpi_call.hpp"
#include "isobar/comm_mpi/mpi_transfer.hpp"
#include "isobar/comm_mpi/mpi_world.hpp"
#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::comm_mpi {
namespace {

using comm::Comm, comm::Ticket;

// A number that is not in use yet; it is returned even if the exchange about it ends with a rank's death.
struct Taken {
  GroupNumbers& numbers;
  int number;
  std::uint32_t epoch;
  bool holds;
  Taken(GroupNumbers& all, int which, std::uint32_t when)
      : numbers(all), number(which), epoch(when), holds(all.take(which, when)) {}
  ~Taken() {
    if (holds) numbers.drop(number, epoch);
  }
  Taken(const Taken&) = delete;
};

}  // namespace

MpiComm::MpiComm(std::shared_ptr<MpiWorld> world, int number, comm::Group group)
    : Comm(std::move(group), std::shared_ptr<comm::WorldView>(world, &world->service())),
      world_(std::move(world)),
      number_(number),
      balance_(world_->numbers().balance(number, epoch())) {}

MpiComm::~MpiComm() { world_->numbers().drop(number_, epoch()); }

Ticket MpiComm::begin_send(int to, int tag, std::span<const std::byte> bytes) {
  balance_->sent(in_world(to));
  return begin(true, to, tag, {const_cast<std::byte*>(bytes.data()), bytes.size()}, comm::Length::exact);
}

Ticket MpiComm::begin_receive(int from, int tag, std::span<std::byte> bytes, comm::Length length) {
  return begin(false, from, tag, bytes, length);
}

Ticket MpiComm::begin(bool sends, int peer, int tag, std::span<std::byte> bytes, comm::Length length) {
  return Ticket(std::make_unique<MpiTransfer>(
      world_, MpiTransfer::Message{sends, in_world(peer), number_, epoch(), world_->tags().tag(number_, epoch(), tag),
                                   bytes.data(), bytes.size(), length, balance_}));
}

std::unique_ptr<Comm> MpiComm::among(std::span<const int> ranks) {
  comm::Group part = part_of(group(), ranks);
  for (;;) {
    const std::vector<std::uint64_t> mine = world_->numbers().taken(epoch());
    std::vector<std::vector<std::uint64_t>> taken;
    for (const comm::Bytes& theirs : all_gather_among(*this, ranks, std::as_bytes(std::span(mine))))
      std::memcpy(taken.emplace_back(mine.size()).data(), theirs.data(), theirs.size());
    const int limit = world_->tags().groups(), number = first_free(taken, limit);
    if (number < 0)
      fail("more than {} groups of ranks at the same time: the tags of the MPI library leave room for no more", limit);
    // Another thread of some rank may have taken the number meanwhile: then all try again.
    Taken taken_here(world_->numbers(), number, epoch());
    const std::uint64_t here[] = {taken_here.holds,
                                  world_->numbers().balance(number, epoch())->print(in_world(rank()), part.members)};
    std::uint64_t held = 0, print = 0;
    for (const comm::Bytes& theirs : all_gather_among(*this, ranks, std::as_bytes(std::span(here)))) {
      std::uint64_t there[2];
      std::memcpy(there, theirs.data(), sizeof there);
      held += there[0], print += there[1];
    }
    if (held < ranks.size()) continue;
    // What was sent to an earlier group with this number and never received would be received in the new one.
    if (print != 0) {
      world_->numbers().spoil(number, epoch());
      continue;
    }
    taken_here.holds = false;
    return std::make_unique<MpiComm>(world_, number, std::move(part));
  }
}

std::unique_ptr<MpiComm> MpiComm::in_epoch(std::uint32_t epoch, std::span<const int> ranks) const {
  expects(epoch != this->epoch(), "another epoch for another list of members");
  comm::Group part = part_of(group(), ranks);
  part.epoch = epoch;
  world_->numbers().add(number_, epoch);
  return std::make_unique<MpiComm>(world_, number_, std::move(part));
}

std::shared_ptr<comm::SharedMemory> MpiComm::share(std::size_t bytes) {
  expects(std::ranges::all_of(nodes(), [](int node) { return node == 0; }), "memory shared within one node");
  return map_memory(*this, bytes);
}

std::function<void(std::span<float>)> MpiComm::native_sum() {
  if (elastic()) return {};  // nothing could end the sum when a rank dies
  comm::barrier(*this);      // no rank waits inside MPI for a late one
  return [world = world_, epoch = epoch(), with = world_->communicator(members())](std::span<float> data) {
    constexpr std::size_t most = std::size_t{1} << 28;
    for (std::size_t begin = 0; begin < data.size(); begin += most) {
      world->service().check(epoch);
      const auto lock = world->use_mpi();
      call(MPI_Allreduce(MPI_IN_PLACE, data.data() + begin, std::min(most, data.size() - begin), MPI_FLOAT, MPI_SUM,
                         with),
           "sum");
    }
  };
}

std::unique_ptr<MpiComm> world_group(std::shared_ptr<MpiWorld> world) {
  expects(world->numbers().take(0, 0), "one group of all ranks");
  return std::make_unique<MpiComm>(world, 0, world->all());
}

}  // namespace isobar::comm_mpi
