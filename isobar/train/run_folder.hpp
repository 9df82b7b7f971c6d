// The folder of a run: made, refused when another run is in it, cleared, and read from when a run goes on. Rank 0 alone
// touches it, since other nodes may not see it; what it read is sent to all.
#pragma once

#include "isobar/comm/comm.hpp"
#include "isobar/parallel/strategy.hpp"
#include "isobar/train/batching.hpp"
#include "isobar/train/checkpoint.hpp"

namespace isobar::train {

std::filesystem::path checkpoint_file(const Job& job);

/// Makes the folder ready on rank 0 and brings every rank's model to where the run stands: to its checkpoint when
/// resumed, otherwise to rank 0's initial weights. Returns where that is. All ranks must call.
Position open_run(const Job& job, const Batching& batching, exec::ParamStore& store, const Kept& kept,
                  comm::Comm& comm);

}  // namespace isobar::train
