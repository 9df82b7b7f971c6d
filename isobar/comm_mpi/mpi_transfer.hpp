// One side of a message over MPI. MPI counts in int: longer messages are split into pieces of 1 GiB here, and a shorter
// one ends them, even if it is empty: so a receiver that does not know the length knows when there is no more.
// MPI cannot cancel a send that has begun, so dropping one that no rank has received waits for a moment; then the world
// fails, and MPI is no longer called: in both cases the memory is no longer touched.
// In an elastic world messages are copied from and to their own memory: a dropped message leaves this memory to MPI
// forever, because MPI may touch it at any time after a rank has died.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/comm_mpi/mpi_world.hpp"

namespace isobar::comm_mpi {

class MpiTransfer final : public comm::Transfer {
 public:
  struct Message {
    bool sends = false;
    int peer = 0;                 // in the world
    int group = 0;                // its number
    std::uint32_t epoch = 0;      // of the group
    int tag = 0;                  // of MPI
    std::byte* memory = nullptr;  // only read when it sends
    std::size_t length = 0;       // or how much room there is
    comm::Length fit = comm::Length::exact;
    std::shared_ptr<Balance> balance{};  // of the group's number; null: nobody will need it
  };

  MpiTransfer(std::shared_ptr<MpiWorld> world, const Message& message);
  ~MpiTransfer() override;

  bool finishes_within(double seconds) override;
  void finish() override { finishes_within(-1); }
  std::size_t bytes() const override { return arrived_; }

 private:
  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    int length = 0;
  };

  void begin();
  void begin_piece();
  bool test();
  bool test(Piece& piece);
  void take_back_receives();
  void abandon();
  void leave_to_mpi();
  template <class F>
  auto or_news_of_a_death(F action);
  bool withdrawn_within(double seconds);
  void expect_living_peer() const;
  [[noreturn]] void throw_wrong_length(const std::string& sent) const;

  std::shared_ptr<MpiWorld> world_;
  Message message_;
  std::unique_ptr<std::byte[]> own_;  // in an elastic world: the memory that MPI reads or writes
  std::vector<Piece> pieces_;
  std::size_t begun_ = 0, arrived_ = 0;  // bytes
  std::size_t finished_ = 0;
};

}  // namespace isobar::comm_mpi
