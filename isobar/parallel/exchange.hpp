// Exchange: what strategies with many ranks have in common: sums of buckets of gradients, begun when they are due and
// awaited in order, and the few numbers of a forward pass (loss, running statistics), which are summed beside them as
// soon as it is over. It owns the memory the gradients lie in: [gradients][loss and count][further copies of
// gradients].
#pragma once

#include <memory>
#include <optional>

#include "isobar/comm/reducer.hpp"
#include "isobar/parallel/buckets.hpp"
#include "isobar/parallel/micro_batches.hpp"
#include "isobar/parallel/step_start.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::parallel {

struct ExchangeOptions {
  comm::ReducerOptions reducer{};
  double bucket_mb = 0;
  bool deterministic = false;
};

/// Reads algorithm, wire, bucket_mb, deterministic, warn_seconds and stall_seconds.
ExchangeOptions read_exchange_options(Args& args);

class Exchange {
 public:
  explicit Exchange(ExchangeOptions options) : options_(std::move(options)) {}

  /// Joins the ranks and returns memory for the gradients; there are `copies` more of the same length. All ranks must
  /// call, before anything else.
  std::span<float> open(comm::Comm& world, std::size_t gradients, int copies = 0);
  /// Finite: the summary tells of running statistics that are not.
  void take_care(const Care& care) { care_ = care; }
  /// Puts back running statistics and the count of samples as begin() found them.
  void undo(Replica& replica);
  /// Copy c of the gradients' memory, from 0.
  std::span<float> copy(int c) const;

  /// Looks at the replica, whose gradients lie in the memory that open() gave; only the first time does anything.
  void prepare(Replica& replica);
  /// A step begins.
  void begin(Replica& replica, std::int64_t step);
  Buckets& buckets() { return *buckets_; }
  /// Begins to sum what is known after the last forward pass, and whatever bad numbers the caller knows of.
  void start_summary(Replica& replica, const MicroBatches& batches, std::size_t bad = 0);
  /// Waits for it: returns the loss over all samples; deterministic, the running statistics are then set.
  double wait_summary(Replica& replica);
  /// Of all ranks, after wait_summary(): running statistics that are not finite, and what start_summary() was told.
  double bad_numbers();
  /// Begins to sum bucket b, in the gradients (-1) or in a copy of them.
  comm::Reducer::Sum start(int b, int copy, int priority);
  /// Waits for a sum of bucket b.
  void wait(int b, comm::Reducer::Sum sum);

  /// Makes the running statistics of all ranks their mean, weighted by the samples seen since the last time.
  void settle(Replica& replica);
  /// The micro-batches of a step begin: counts their samples.
  void count_rows(std::span<const Feed> feeds);
  /// What it counts between two settle(): for checkpoints.
  std::span<double> own_numbers() { return {&rows_, 1}; }

  bool deterministic() const { return options_.deterministic; }
  comm::ExchangeCost cost() const { return reducer_ ? reducer_->cost() : comm::ExchangeCost{}; }
  /// "shared memory of 2 ranks, buckets of 4 MB"
  std::string describe() const;

 private:
  template <class Copy>
  void copy_ranges(Copy copy);
  void start_numbers(bool statistics);
  void wait_numbers();
  float& number(std::size_t i) { return reducer_->memory()[gradients_ + i]; }
  template <class Wait>
  void timed(std::uint32_t name, double bytes, Wait wait);
  std::function<void()> watched(const std::string& what, std::uint32_t name, double bytes);

  ExchangeOptions options_;
  Care care_;
  StepStart start_;
  comm::Comm* world_ = nullptr;
  std::unique_ptr<comm::Reducer> reducer_;
  std::unique_ptr<comm::Reducer> exact_;  // where gradients travel in 16 bits: sums copies of ranges_ as they are
  std::size_t gradients_ = 0;
  int copies_ = 0;
  std::optional<Buckets> buckets_;
  std::vector<comm::Range> ranges_;  // where running statistics and numbers lie
  std::vector<comm::Reducer::Sum> summary_;
  StepTrace* trace_ = nullptr;        // null with one rank alone
  std::vector<std::uint32_t> names_;  // of sums in the trace: one for each bucket, then the summary
  std::int64_t step_ = 0;
  double rows_ = 0;         // samples since the last settle()
  double rows_before_ = 0;  // at the beginning of the step
};

}  // namespace isobar::parallel
