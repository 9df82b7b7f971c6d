// The tuning of a run: taken from what is remembered of this machine when the run begins, kept in its folder, and
// used whenever the run goes on or its network is applied, so that the same kernels give the same bits.
#pragma once

#include <memory>

#include "isobar/comm/comm.hpp"
#include "isobar/ops/tuning.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

/// Rank 0's, for all ranks, which must all call; null when there is none: nothing is remembered, the recipe says
/// train.tuned = false or train.deterministic = true, or a run goes on that began without. `under_way`: the run has
/// begun already in this launch.
std::shared_ptr<const ops::Tuning> run_tuning(const Job& job, std::int64_t rows, bool under_way, comm::Comm& comm);

/// What the run in this folder was tuned with; null when it was not. Rank 0 alone sees the folder; all must call.
std::shared_ptr<const ops::Tuning> kept_tuning(const std::filesystem::path& folder, comm::Comm& comm);

/// Keeps it in the folder of a run that begins.
void keep_tuning(const std::filesystem::path& folder, const ops::Tuning& tuning);

}  // namespace isobar::train
