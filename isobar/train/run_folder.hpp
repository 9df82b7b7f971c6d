// The folder of a run: created, refused if it holds another run, cleared, and read when a run continues. Only rank 0
// touches it, because other nodes may not see it; it sends what it read to all ranks.
#pragma once

#include <string>

#include "isobar/checkpoint/checkpoint_shelf.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/train/batching.hpp"

namespace isobar::train {

/// Where a run stands when it is opened.
struct Opened {
  checkpoint::Position position{};
  std::string metrics{};                                   ///< as in Snapshot
  double best = std::numeric_limits<double>::quiet_NaN();  ///< as in Snapshot
};

/// Makes the folder ready on rank 0 and brings every rank's model to where the run stands: when resumed, or started
/// anew by the launcher that had started it before, to its newest intact checkpoint, otherwise to rank 0's initial
/// weights. Says on rank 0 which checkpoint was taken and why newer ones were not. All ranks must call.
Opened open_run(const Job& job, const Batching& batching, exec::ParamStore& store, const exec::StateBlocks& state,
                comm::Comm& comm);

/// For a rank that replaces a dead rank 0: returns whether it sees the folder; if so, the folder then has all files
/// that are written once.
bool take_over_folder(const Job& job, const Batching& batching);

}  // namespace isobar::train
