// How long ranks wait for each other between steps. Where all do the same, a long wait is a stall, and ends the job as
// a stall within an exchange would. Where one rank may legitimately take long (a checkpoint, staging, learning), the
// others give up only on a rank that does not answer.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "isobar/comm/collectives.hpp"

namespace isobar::train {

/// When a wait is reported, and when it ends the job.
struct WaitLimits {
  double warn_seconds = 10, stall_seconds = 60;
};

using comm::Look;

/// Ends a wait that lasts longer than the limit, naming the ranks that are missing from `what`.
Look until_stalled(comm::Comm& comm, const WaitLimits& limits, const std::string& what);

/// Ends a wait only when some rank has not answered for that long.
Look while_all_answer(comm::Comm& comm, const WaitLimits& limits, const std::string& what);

/// While it exists, a thread on ranks 0 and 1 regularly asks all ranks whether they are alive; if one has not answered
/// for the stall limit, the job ends, whatever the others are waiting for: staged files, samples of a store.
class Vigil {
 public:
  Vigil(comm::Comm& comm, const WaitLimits& limits);

 private:
  std::jthread thread_;
};

}  // namespace isobar::train
