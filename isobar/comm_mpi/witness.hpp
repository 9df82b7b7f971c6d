// This rank's end of the socket to the witness of its node (witness_process.hpp says what that is for). If a witness
// cannot be started, everything still works, but only the launcher reports a death.
#pragma once

#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>

namespace isobar::comm_mpi {

struct Notes;

class Witness {
 public:
  struct Death {
    int rank = 0;
    std::string message;
  };

  /// Starts the process if the launcher says that this is the first rank of a node. Call it before MPI is started,
  /// because libraries for fast networks do not support fork well.
  Witness();
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// Presents this rank to the node's witness. All ranks of the node must call.
  void meet(MPI_Comm node, int rank);

  /// Cheap: writes to memory.
  void note(const std::string& what);
  /// What the witness has reported meanwhile; does not wait.
  std::optional<Death> heard();
  /// The world has failed and the reason is known: the witness does not report ranks that end from now on.
  void failing();
  /// This rank ends normally.
  void goodbye();

 private:
  void say(int kind);

  int socket_ = -1;
  int rank_ = -1, slot_ = -1;
  int notes_file_ = -1;
  char name_[32] = {};  // of the listener in the abstract name space, with its length in front
  Notes* notes_ = nullptr;
  std::mutex mutex_;
};

}  // namespace isobar::comm_mpi
