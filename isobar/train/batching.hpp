// Batching: how the samples of a step are divided: a global batch over ranks, a rank's part into micro-batches, one of
// which is what the network computes at a time. `data.batch` counts all ranks together, so that a recipe trains the
// same on any number of them; `data.batch_per_rank` grows with their number instead.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "isobar/train/job.hpp"

namespace isobar::train {

struct Batching {
  std::int64_t batch = 1;  ///< samples of a global batch, all ranks together
  int ranks = 1;
  std::int64_t micro_batches = 1;  ///< of one rank
  std::int64_t rows = 1;           ///< the most samples of a micro-batch: what the network is planned for

  /// "global batch 8: 2 ranks with 2 micro-batches of 2".
  std::string describe() const;
};

/// Divides the batch of a job; numbers that do not fit each other are a UsageError.
Batching divide_batch(const Job& job, int ranks);

/// The most of so many available ranks that can share the steps of a job, the same on all ranks; all of them when no
/// number can: divide_batch() then says why.
int most_ranks(const Job& job, int available);
/// The same as a function that can outlive the job.
std::function<int(int available)> most_ranks(const Job& job);

}  // namespace isobar::train
