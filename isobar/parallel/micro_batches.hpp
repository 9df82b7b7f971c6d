// MicroBatches: forward and backward over the micro-batches of one step, with their gradients added up. A single one
// costs neither a copy nor memory. Balanced, every micro-batch starts from the running statistics the step began with,
// and their results are averaged by samples in the same tree as gradients and loss are summed: so nothing depends on
// which rank computes which micro-batch.
#pragma once

#include <functional>
#include <memory>

#include "isobar/parallel/partial_sums.hpp"
#include "isobar/parallel/replica.hpp"
#include "isobar/parallel/step_start.hpp"

namespace isobar::parallel {

/// What a step wants to be told meanwhile; each may be empty.
struct Listener {
  /// The last forward pass is over: loss() is known and, balanced, so is this rank's part of the running statistics, in
  /// the gradient memory of what is not trained.
  std::function<void()> forwarded{};
  /// The sum of gradient p over all micro-batches is final, in its memory.
  std::function<void(int p)> ready{};
};

/// Samples in a batch.
std::int64_t rows_of(const Feed& feed);

class MicroBatches {
 public:
  explicit MicroBatches(PartialSums::Order order = PartialSums::Order::running) : order_(order) {}

  /// Runs all of them. Afterwards every gradient is final, also those the listener was not told of.
  void run(Replica& replica, std::span<const Feed> feeds, const Listener& listener);
  /// This rank's part of the loss over all samples of the step.
  float loss() const { return loss_; }

 private:
  void run_one(Replica& replica, const Feed& feed, std::size_t item, bool last, const Listener& listener);
  void add_forward(Replica& replica, const Feed& feed, float loss, std::size_t item, bool last);
  bool balanced() const { return order_ == PartialSums::Order::balanced; }

  PartialSums::Order order_;
  std::unique_ptr<PartialSums> sums_;
  StepStart start_;
  float loss_ = 0;
  Chore adding_{Category::copy, "sum of micro-batches"};
};

/// Sets the running statistics to what lies in their gradient memory.
void take_statistics(const Replica& replica);

}  // namespace isobar::parallel
