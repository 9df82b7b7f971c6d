// Exchange: what strategies with many ranks have in common. It owns the memory the gradients lie in, as
// [gradients][numbers of a step][further copies of gradients]. begin() makes a StepExchange, which computes a step and
// sums its loss; sums of gradients may outlive their step.
#pragma once

#include <memory>
#include <optional>

#include "isobar/parallel/buckets.hpp"
#include "isobar/parallel/error_feedback.hpp"
#include "isobar/parallel/micro_batches.hpp"
#include "isobar/parallel/step_numbers.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

struct ExchangeOptions {
  comm::ReducerOptions reducer{};
  double bucket_mb = 0;
  bool deterministic = false;

  StrategyTraits traits() const;
  /// What a step takes with so many further copies of the gradients, where these are summed in every step, or in one of
  /// so many.
  StepNeeds needs(const PlannedRank& rank, int copies = 0, std::int64_t every = 1) const;
  /// What is sent in a step besides gradients: loss and bad numbers.
  comm::Traffic needs_of_numbers(const PlannedRank& rank) const;
  std::size_t bucket_numbers() const { return static_cast<std::size_t>(bucket_mb * 1e6 / sizeof(float)); }
};

/// Reads algorithm, codec (or wire, its older name), bucket_mb, deterministic, warn_seconds and stall_seconds.
ExchangeOptions read_exchange_options(Args& args);

/// The sums of all buckets, in the gradients or in a copy of them; empty: none is under way.
using BucketSums = std::vector<comm::Reducer::Sum>;

class Exchange;

/// One step: one of the two compute functions, then summary(); sum() where gradients are to travel later. If an
/// exception ends the step, running statistics and the count of samples are put back as begin() found them.
class StepExchange {
 public:
  ~StepExchange();
  StepExchange(const StepExchange&) = delete;

  /// Forward and backward; each bucket begins to be summed when its gradients are final, and the loss after the last
  /// forward pass.
  BucketSums compute_and_sum();
  /// Forward and backward; then the loss begins to be summed, and with it what is bad: bad() is asked for a number.
  void compute(const std::function<std::size_t()>& bad);
  /// Begins to sum all buckets, where they lie in a copy or, after compute(), in the gradients (-1).
  BucketSums sum(int copy, int priority);
  /// Waits for the loss; deterministic, the running statistics are then set.
  ForwardSummary summary();

 private:
  friend class Exchange;
  StepExchange(Exchange& exchange, Replica& replica, std::span<const Feed> feeds);

  enum class Phase { begun, computed, summed_up };

  Exchange& exchange_;
  Replica& replica_;
  std::span<const Feed> feeds_;
  StepGuard guard_;
  double rows_before_;
  Phase phase_ = Phase::begun;
};

class Exchange {
 public:
  /// Joins the ranks; there are `copies` more memories as long as the gradients'. All ranks must call; `world` must
  /// outlive this.
  Exchange(ExchangeOptions options, const Care& care, comm::Comm& world, std::size_t gradients, int copies = 0);
  Exchange(const Exchange&) = delete;

  std::span<float> gradients() const { return reducer_->memory().first(gradients_); }
  /// Copy c of the gradients' memory, from 0.
  std::span<float> copy(int c) const;
  /// How the gradients of the replica, which lie in the memory given here, are cut.
  const Buckets& buckets(const Replica& replica) { return parts(replica).buckets; }

  /// Begins a step. All must outlive it.
  StepExchange begin(Replica& replica, std::span<const Feed> feeds, std::int64_t step);
  /// Returns when the sum of bucket b is there.
  void wait(const BucketSums& sums, int b);
  /// Between steps: makes the running statistics of all ranks their mean, weighted by the samples seen since the last
  /// time.
  void settle(const Replica& replica);
  /// Between steps: the part of all ranks' weights that is this rank's; nothing if these are zero on all.
  std::optional<float> share_of(const Replica& replica, double weight);
  /// Between steps: makes the weights of the model, and the running statistics, their mean over all ranks, with these
  /// shares of it.
  void average(Replica& replica, float share);

  /// The count of those samples.
  exec::StateBlocks state();
  comm::ExchangeCost cost() const { return reducer_->cost(); }
  /// "shared memory of 2 ranks, buckets of 4 MB"
  std::string describe() const;

 private:
  friend class StepExchange;

  /// What is made when the replica is known.
  struct Parts {
    Parts(const Exchange& exchange, const Replica& replica);

    Buckets buckets;
    SumWatch watch;
    StepNumbers numbers;
  };
  Parts& parts(const Replica& replica);
  comm::Reducer::Sum start_bucket(Replica& replica, int b, int copy, int priority);
  void start_summary(const Replica& replica, std::size_t bad);

  ExchangeOptions options_;
  Care care_;
  comm::Comm& world_;
  std::size_t gradients_;
  std::unique_ptr<comm::GradientMemory> memory_;
  std::unique_ptr<comm::Reducer> reducer_;
  std::optional<ErrorFeedback> feedback_;  // where the codec does not send all
  Chore encoding_{Category::copy, "gradients as the codec has them"}, averaging_{Category::copy, "mean of models"};
  std::optional<Parts> parts_;
  MicroBatches batches_;
  StepStart start_;
  double rows_ = 0;  // samples since the last settle()
};

}  // namespace isobar::parallel
