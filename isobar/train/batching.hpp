// Batching: how the samples of a step are divided: a global batch over replicas, and a replica's part into
// micro-batches, which the network computes one at a time. A replica is a rank, or the ranks one model is cut over.
// `data.batch` counts all ranks together, so that a recipe trains the same on any number of ranks; with
// `data.batch_per_rank` the global batch grows with the number of replicas.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "isobar/graph/plan.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

struct Batching {
  std::int64_t batch = 1;          ///< samples of a global batch, all ranks together
  int replicas = 1, ways = 1;      ///< and the ranks of each
  std::int64_t micro_batches = 1;  ///< of one replica
  std::int64_t rows = 1;           ///< the most samples of a micro-batch: what the network is planned for

  /// "global batch 8: 2 ranks with 2 micro-batches of 2".
  std::string describe() const;
};

/// Divides the batch of a job over so many replicas; numbers that do not fit together are a UsageError.
Batching divide_batch(const Job& job, int replicas);

/// How a rank plans the training of a job, with kernels as `tuning` has them; null: the usual ones.
graph::PlanOptions plan_options(const Job& job, std::shared_ptr<const ops::Tuning> tuning = nullptr);

/// How many of the available ranks can share the steps of a job at most, the same on all ranks: whole replicas, and
/// those that serve. All of them if no number works: place() or divide_batch() then says why.
int most_ranks(const Job& job, int available);
/// The same as a function that can outlive the job.
std::function<int(int available)> most_ranks(const Job& job);

}  // namespace isobar::train
