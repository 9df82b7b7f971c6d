// One side of a message over MPI. MPI counts in int: what is longer than 1 GiB travels in pieces, here only.
// MPI cannot take back a send that has begun, so dropping one that nobody has received waits for a moment; then it
// is a failure of the world, after which MPI is not called any more: so the memory is not touched either way.
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
    int tag = 0;                  // of MPI
    std::byte* memory = nullptr;  // only read when it sends
    std::size_t length = 0;
  };

  MpiTransfer(std::shared_ptr<MpiWorld> world, const Message& message);
  ~MpiTransfer() override;

  bool finishes_within(double seconds) override;
  void finish() override { finishes_within(-1); }

 private:
  struct Piece {
    MPI_Request request = MPI_REQUEST_NULL;
    int length = 0;
  };

  bool test();
  bool test(Piece& piece);
  bool withdrawn_within(double seconds);
  [[noreturn]] void throw_wrong_length(const std::string& met) const;

  std::shared_ptr<MpiWorld> world_;
  Message message_;
  std::vector<Piece> pieces_;
  std::size_t finished_ = 0;
};

}  // namespace isobar::comm_mpi
