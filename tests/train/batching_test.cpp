#include "isobar/train/batching.hpp"

#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/split/plain_splits.hpp"

namespace isobar::train {
namespace {

using tests::error_of;

Job job_with(std::int64_t batch, std::int64_t micro_batches = 0, bool deterministic = false) {
  Job job;
  job.batch = batch;
  job.micro_batches = micro_batches;
  job.deterministic = deterministic;
  job.split = make(split::splits(), "none", "split");
  job.strategy = make(parallel::strategies(), "sync", "strategy");
  return job;
}

TEST(Batching, ABatchIsThatOfAllReplicas) {
  Job job = job_with(8, 4);
  job.split = std::make_unique<tests::Copies>(3);
  const Batching two = divide_batch(job, 2);
  EXPECT_EQ(two.rows, 2);
  EXPECT_EQ(two.describe(), "global batch 8: 2 replicas of 3 ranks with 2 micro-batches of 2");
  EXPECT_EQ(most_ranks(job, 7), 6);
  EXPECT_EQ(most_ranks(job, 11), 6) << "three replicas cannot share four micro-batches";
  EXPECT_EQ(most_ranks(job, 12), 12);
}

TEST(Batching, ABatchIsThatOfAllRanks) {
  const Batching one = divide_batch(job_with(8), 1), three = divide_batch(job_with(8), 3);
  EXPECT_EQ(one.rows, 8);
  EXPECT_EQ(three.batch, 8);
  EXPECT_EQ(three.rows, 3);  // 2, 3 and 3
  EXPECT_EQ(three.micro_batches, 1);
  EXPECT_EQ(three.describe(), "global batch 8: 3 ranks with 1 micro-batch of 3");
  EXPECT_EQ(one.describe(), "batch 8");
}

TEST(Batching, ABatchPerRankGrowsWithTheRanks) {
  Job job = job_with(0);
  job.batch_per_rank = 4;
  const Batching three = divide_batch(job, 3);
  EXPECT_EQ(three.batch, 12);
  EXPECT_EQ(three.rows, 4);
}

TEST(Batching, MicroBatchesAreCountedOverAllRanks) {
  const Batching two = divide_batch(job_with(24, 4), 2);
  EXPECT_EQ(two.micro_batches, 2);
  EXPECT_EQ(two.rows, 6);
  EXPECT_HAS(error_of([] { divide_batch(job_with(24, 4), 3); }), "multiple of 3 ranks");
  EXPECT_HAS(error_of([] { divide_batch(job_with(9, 4), 2); }), "4 equal micro-batches");
}

TEST(Batching, DeterministicOnesDoNotDependOnTheRanks) {
  for (const int ranks : {1, 2, 4, 8}) {
    const Batching batching = divide_batch(job_with(24, 0, true), ranks);
    EXPECT_EQ(batching.rows, 3);
    EXPECT_EQ(batching.micro_batches, 8 / ranks);
  }
  EXPECT_EQ(divide_batch(job_with(64, 0, true), 2).rows, 4);  // 16 of them, not more
  EXPECT_HAS(error_of([] { divide_batch(job_with(24, 0, true), 3); }), "valid: 1, 2, 4");
  EXPECT_HAS(error_of([] { divide_batch(job_with(24, 0, true), 16); }), "cannot be shared by 16 ranks");
  EXPECT_HAS(error_of([] { divide_batch(job_with(24, 6, true), 2); }), "not a power of two");
}

TEST(Batching, SynchronisedNormalisationNeedsSamplesOnEveryRank) {
  Job job = job_with(2);
  job.sync_batch_norm = true;
  EXPECT_EQ(divide_batch(job, 2).rows, 1);
  EXPECT_HAS(error_of([&] { divide_batch(job, 3); }), "without samples");
}

TEST(Batching, RanksThatCannotShareAStepStandBy) {
  for (const int ranks : {1, 2, 3, 5, 7}) EXPECT_EQ(most_ranks(job_with(4), ranks), ranks);
  EXPECT_EQ(most_ranks(job_with(24, 4), 3), 2);
  EXPECT_EQ(most_ranks(job_with(24, 6), 5), 3);
  EXPECT_EQ(most_ranks(job_with(24, 0, true), 7), 4);
  EXPECT_EQ(most_ranks(job_with(24, 0, true), 16), 8);
  EXPECT_EQ(most_ranks(job_with(9, 0, true), 4), 1);
  Job norm = job_with(2);
  norm.sync_batch_norm = true;
  EXPECT_EQ(most_ranks(norm, 3), 2);
  Job each = job_with(0, 0, true);
  each.batch_per_rank = 3;
  EXPECT_EQ(most_ranks(each, 3), 2);
  // A rank that serves takes no samples.
  Job served = job_with(24, 6);
  served.strategy = make(parallel::strategies(), "async(servers=2)", "strategy");
  EXPECT_EQ(most_ranks(served, 5), 5);
  EXPECT_EQ(most_ranks(served, 7), 5);
}

// Every number of ranks it returns can divide the batch of the first start.
TEST(Batching, WhatRemainsOfTheRanksCanDivideTheSameBatch) {
  for (const bool deterministic : {false, true})
    for (const std::int64_t micro : {0, 4, 8})
      for (int first = 1; first <= 8; ++first) {
        Job job = job_with(0, micro, deterministic);
        job.batch_per_rank = 8;
        if (most_ranks(job, first) != first) continue;
        Job later = job_with(divide_batch(job, first).batch, micro, deterministic);
        for (int left = first; left > 0; --left) EXPECT_NO_THROW(divide_batch(later, most_ranks(job, left))) << left;
      }
}

}  // namespace
}  // namespace isobar::train
