// How long ranks wait for each other between steps. Where all do the same, a wait that lasts is a stall, and ends the
// job as one within an exchange would. Where one of them may rightly take long (a checkpoint, staging, learning), only
// a rank that does not even answer is given up.
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

/// Gives up a wait that lasts longer than the limit, naming the ranks that are missing from `what`.
Look until_stalled(comm::Comm& comm, const WaitLimits& limits, const std::string& what);

/// Gives up only when some rank has not answered for so long.
Look while_all_answer(comm::Comm& comm, const WaitLimits& limits, const std::string& what);

/// As long as it lives, a thread of ranks 0 and 1 asks all ranks now and then whether they are there; one that has not
/// answered for the stall limit ends the job, whatever others are waiting for: staged files, samples of a store.
class Vigil {
 public:
  Vigil(comm::Comm& comm, const WaitLimits& limits);

 private:
  std::jthread thread_;
};

}  // namespace isobar::train
