#include "isobar/train/batching.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "isobar/base/error.hpp"

namespace isobar::train {
namespace {

constexpr std::int64_t most_default_micro_batches = 16;

bool power_of_two(std::int64_t n) { return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n)); }

// The same for every number of ranks, because it decides in which order gradients are added.
std::int64_t deterministic_micro_batches(std::int64_t batch) {
  std::int64_t count = 1;
  while (count < most_default_micro_batches && batch % (2 * count) == 0) count *= 2;
  return count;
}

// The batch itself need not be known, and is not known with data.batch_per_rank: the ranks of the first start determine
// it.
struct Rules {
  bool powers_of_two = false;
  std::int64_t most = 0;      // replicas; 0: no limit
  std::int64_t multiple = 0;  // of the number of replicas; 0 is a multiple of every number
  int serving = 0;            // ranks that take no samples
  int ways = 1;               // ranks of a replica

  bool allow(int available) const {
    const int ranks = available - serving, replicas = ranks / ways;
    return ranks > 0 && ranks % ways == 0 && (!powers_of_two || power_of_two(replicas)) &&
           (most == 0 || replicas <= most) && multiple % replicas == 0;
  }
};

Rules rules_of(const Job& job) {
  Rules rules{.powers_of_two = job.deterministic,
              .multiple = job.micro_batches,
              .serving = job.strategy->traits().servers,
              .ways = job.split->ways()};
  if (job.sync_batch_norm) rules.most = job.batch;
  if (job.micro_batches == 0 && job.deterministic && job.batch > 0)
    rules.multiple = deterministic_micro_batches(job.batch);
  return rules;
}

}  // namespace

std::string Batching::describe() const {
  if (replicas * ways == 1 && micro_batches == 1) return fmt::format("batch {}", batch);
  const std::string_view plural = replicas == 1 ? "" : "s";
  const std::string who = ways == 1 ? fmt::format("{} rank{}", replicas, plural)
                                    : fmt::format("{} replica{} of {} ranks", replicas, plural, ways);
  return fmt::format("global batch {}: {} with {} micro-batch{} of {}", batch, who, micro_batches,
                     micro_batches == 1 ? "" : "es", rows);
}

Batching divide_batch(const Job& job, int replicas) {
  Batching result{job.batch_per_rank > 0 ? job.batch_per_rank * replicas : job.batch, replicas, job.split->ways()};
  const std::string_view sharing = result.ways > 1 ? "replicas" : "ranks";
  const std::int64_t batch = result.batch;
  std::int64_t all = job.micro_batches;
  if (job.deterministic) {
    if (!power_of_two(replicas))
      fail_usage("train.deterministic: {} ranks cannot give the bits of one; valid: 1, 2, 4, 8, ...", replicas);
    if (all == 0) all = deterministic_micro_batches(batch);
    if (!power_of_two(all))
      fail_usage("train.deterministic: train.micro_batches = {} is not a power of two: gradients are added in pairs",
                 all);
    if (all % replicas != 0)
      fail_usage(
          "train.deterministic: {} micro-batches cannot be shared by {} ranks; use train.micro_batches = {}, and "
          "a batch that is a multiple of it",
          all, replicas, replicas);
  }
  if (all == 0) {  // one for each replica; some may be one sample short
    result.rows = (batch + replicas - 1) / replicas;
    if (job.sync_batch_norm && batch < replicas)
      fail_usage("train.sync_batch_norm: a batch of {} leaves some of {} {} without samples", batch, replicas, sharing);
    return result;
  }
  if (all % replicas != 0)
    fail_usage("train.micro_batches = {} is not a multiple of {} {}: it counts those of all ranks together", all,
               replicas, sharing);
  if (batch % all != 0) fail_usage("a batch of {} cannot be cut into {} equal micro-batches", batch, all);
  result.micro_batches = all / replicas;
  result.rows = batch / all;
  return result;
}

graph::PlanOptions plan_options(const Job& job, std::shared_ptr<const ops::Tuning> tuning) {
  return {.memory_limit = job.memory_limit,
          .weight_copies = (job.gradients_in_arena ? 1 : 2) + job.optimizer->slots(),
          .tuning = std::move(tuning),
          .gradients_in_arena = job.gradients_in_arena};
}

int most_ranks(const Job& job, int available) { return most_ranks(job)(available); }

std::function<int(int)> most_ranks(const Job& job) {
  return [rules = rules_of(job)](int available) {
    for (int ranks = available; ranks > 0; --ranks)
      if (rules.allow(ranks)) return ranks;
    return available;
  };
}

}  // namespace isobar::train
