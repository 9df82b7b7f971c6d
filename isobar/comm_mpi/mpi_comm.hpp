// MpiComm: a group of ranks over MPI. All groups use one MPI communicator: group and epoch are in the tag, members are
// a list, so that a group without a dead member costs no MPI call. Memory is shared without MPI too.
#pragma once

#include <memory>

#include "isobar/comm/comm.hpp"

namespace isobar::comm_mpi {

class Balance;
class MpiWorld;

class MpiComm final : public comm::Comm {
 public:
  /// `number`, which is part of its message tags, must have been taken for the group's epoch.
  MpiComm(std::shared_ptr<MpiWorld> world, int number, comm::Group group);
  ~MpiComm() override;

  std::unique_ptr<Comm> among(std::span<const int> ranks) override;
  std::shared_ptr<comm::SharedMemory> share(std::size_t bytes) override;
  std::function<void(std::span<float>)> native_sum() override;

  /// This group with only some of its ranks, in the given order, and another epoch; this rank must be among them. Sends
  /// no message: all these ranks must pass the same list.
  std::unique_ptr<MpiComm> in_epoch(std::uint32_t epoch, std::span<const int> ranks) const;

 private:
  comm::Ticket begin_send(int to, int tag, std::span<const std::byte> bytes) override;
  comm::Ticket begin_receive(int from, int tag, std::span<std::byte> bytes, comm::Length length) override;
  comm::Ticket begin(bool sends, int peer, int tag, std::span<std::byte> bytes, comm::Length length);

  std::shared_ptr<MpiWorld> world_;
  int number_;
  std::shared_ptr<Balance> balance_;  // of messages with this number
};

/// The group of all ranks of the world.
std::unique_ptr<MpiComm> world_group(std::shared_ptr<MpiWorld> world);

}  // namespace isobar::comm_mpi
