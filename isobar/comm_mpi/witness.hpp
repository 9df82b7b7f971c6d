// This rank's end of the socket to the witness of its node (witness_process.hpp says what that is for). If a witness
// cannot be started, everything still works, but only the launcher reports a death.
#pragma once

#include <atomic>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>

#include "isobar/base/descriptor.hpp"
#include "isobar/comm_mpi/witness_process.hpp"

namespace isobar::comm_mpi {

class Witness {
 public:
  struct Death {
    int rank = 0;
    std::string message;
  };

  /// Starts the process if the launcher says that this is the first rank of a node. Call it before MPI is started,
  /// because libraries for fast networks do not support fork well.
  Witness();

  /// Presents this rank to the node's witness. All ranks of the node must call.
  void meet(MPI_Comm node, int rank);

  /// Cheap: writes to memory.
  void note(const std::string& what);
  /// What the witness has reported meanwhile; does not wait.
  std::optional<Death> heard();
  /// The world has failed and the reason is known: the witness does not report ranks that end from now on. Tells it
  /// once.
  void failing();
  /// This rank ends normally.
  void goodbye() { say(WitnessWord::Kind::goodbye); }

 private:
  struct Unmap {
    void operator()(Notes* notes) const;
  };

  void say(WitnessWord::Kind kind);
  void open_notes(Descriptor file);

  Descriptor socket_, notes_file_;
  int rank_ = -1, slot_ = -1;
  char name_[32] = {};  // of the listener in the abstract name space, with its length in front
  std::unique_ptr<Notes, Unmap> notes_;
  std::mutex mutex_;  // around the socket
  std::atomic<bool> said_failing_ = false;
};

}  // namespace isobar::comm_mpi
