// The tuning of a run: taken from what is remembered for this machine when the run begins, kept in its folder, and
// used whenever the run continues or its network is applied, so that the same kernels give the same bits.
#pragma once

#include <memory>

#include "isobar/comm/comm.hpp"
#include "isobar/ops/tuning.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

/// Rank 0's tuning, on all ranks; all must call. Null if there is none: nothing is remembered, the recipe says
/// train.tuned = false or train.deterministic = true, or the run began without tuning. `under_way`: the run has already
/// begun in this launch.
std::shared_ptr<const ops::Tuning> run_tuning(const Job& job, std::int64_t rows, bool under_way, comm::Comm& comm);

/// The tuning of the run in this folder; null if it has none. Only rank 0 reads the folder; all must call.
std::shared_ptr<const ops::Tuning> kept_tuning(const std::filesystem::path& folder, comm::Comm& comm);

/// Writes the tuning to the folder of a run that begins.
void keep_tuning(const std::filesystem::path& folder, const ops::Tuning& tuning);

}  // namespace isobar::train
