// Service: what ranks tell each other beside their messages: failures, what they are doing, that they come to their
// end. One kind sends letters over MPI, for worlds that end when a rank dies; the other speaks with the launcher that
// supervises the run, for worlds that go on without the dead.
#pragma once

#include <string>

#include "isobar/comm/world_view.hpp"

namespace isobar::comm_mpi {

class Service : public comm::WorldView {
 public:
  using WorldView::WorldView;

  /// Whether a rank has come to its end without a failure; asks it, and answers no until it has said so.
  virtual bool has_left(int rank) = 0;

  /// All ranks end and are started anew, which is no failure: from now on check() throws Aborted.
  virtual void end_of_launch(const std::string& why) = 0;
  /// The end of this rank's part; see World::leave. When MPI can be ended in good order it returns the exit code of the
  /// world, which is the same on all ranks; or else it ends the process.
  virtual int end(int exit_code) = 0;
};

}  // namespace isobar::comm_mpi
