// Service: what ranks tell each other besides their messages: failures, what they are doing, that they are ending. One
// kind sends letters over MPI, for worlds that end when a rank dies; the other talks to the launcher that supervises
// the run, for worlds that continue without dead ranks.
#pragma once

#include <string>

#include "isobar/comm/world_view.hpp"

namespace isobar::comm_mpi {

class Service : public comm::WorldView {
 public:
  using WorldView::WorldView;

  /// Whether a rank has ended without a failure; asks it, and returns false until it has confirmed.
  virtual bool has_left(int rank) = 0;

  /// All ranks end and are restarted, which is no failure: from now on check() throws Aborted.
  virtual void end_of_launch(const std::string& why) = 0;
  /// Ends this rank's part; see World::leave. If MPI can be finalized, returns the exit code of the world, which is the
  /// same on all ranks; otherwise ends the process.
  virtual int end(int exit_code) = 0;
};

}  // namespace isobar::comm_mpi
