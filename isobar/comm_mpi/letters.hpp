// Letters: short messages between any two ranks of the world, on their own communicator. Nothing here waits for another
// rank.
#pragma once

#include <cstdint>
#include <list>
#include <mpi.h>
#include <string>
#include <vector>

#include "isobar/comm_mpi/mpi_gate.hpp"

namespace isobar::comm_mpi {

struct Letter {
  enum class Word : std::int32_t { propose, verdict, ask, answer, leaving, go, round };
  Word word{};
  std::int32_t number = 0;  // a question, a round, the rank that failed, or its exit code
  std::int32_t flag = 0;    // the rank has left, the user has been told, or all ranks have ended
  std::string text{};
  int from = -1;  // set on arrival
};

class Letters {
 public:
  Letters(MPI_Comm communicator, MpiGate& mpi);

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether letters can be sent: false if MPI may no longer be called.
  bool works() const { return mpi_.is_open(); }
  /// Begins to send, if letters can be sent.
  void post(int to, const Letter& letter);
  /// What has arrived; nothing while another thread is inside MPI.
  std::vector<Letter> collect();
  /// Whether MPI needs no more time to send what was posted.
  bool all_sent();

 private:
  struct Sending {
    std::vector<char> bytes{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  const MPI_Comm communicator_;
  MpiGate& mpi_;
  int rank_ = 0, size_ = 1;
  std::list<Sending> outbox_;  // guarded by the gate
};

}  // namespace isobar::comm_mpi
