// Strategy: how ranks keep their parameters consistent: forward, backward, exchange, update, in this strategy's order.
// Ordinary code over a Replica, so that it runs the same on a real and on a simulated machine.
#pragma once

#include "isobar/base/row.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/parallel/not_finite.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// How carefully a strategy takes its steps.
struct Care {
  /// All sums are awaited before the first weight is updated: a step that throws before has changed no weight and no
  /// slot, and undo() puts back the rest. Otherwise updates overlap with sums.
  bool whole = false;
  /// Numbers that are not finite, in the loss, the running statistics or a summed gradient, are found before they are
  /// applied (whole: before anything is), and step() throws NotFinite, alike on all ranks.
  bool finite = true;
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Before open().
  virtual void take_care(const Care& care) = 0;
  /// Joins the ranks, once, before the parameter store is made: returns memory for so many gradients, from which they
  /// travel without a copy, or nothing where any memory will do. All ranks must call; `world` must outlive this.
  virtual std::span<float> open(comm::Comm& world, std::size_t gradients) = 0;
  /// One training step over this rank's micro-batches, in order; one without rows takes part in the exchange only.
  /// Returns the loss over the samples of all ranks. All ranks must call.
  virtual double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) = 0;
  /// After a step that threw: running statistics and counts of samples are again what they were before it; with
  /// Care::whole so is everything else. No message is sent.
  virtual void undo(Replica& replica) = 0;
  /// Whether undo() leaves a usable state when the step was interrupted within an exchange, by comm::MembersChanged:
  /// weights and slots are those of the last finished step.
  virtual bool recovers() const = 0;
  /// Waits for sums under way: kept() is whole then, and changes nothing else. All ranks must call.
  virtual void rest() {}
  /// Makes what ranks gather for themselves, such as running statistics, equal on all: before evaluation and
  /// checkpoints. All ranks must call.
  virtual void settle(Replica&) {}
  /// Applies what is still under way: every rank is left with the final model. All ranks must call.
  virtual void finish(Replica&) {}
  /// What it keeps from step to step besides the model, by name, each as long as all gradients: checkpoints hold it.
  virtual std::vector<std::pair<std::string, std::span<float>>> kept() { return {}; }
  /// Numbers that belong to kept(): checkpoints hold them beside it, and write both back before the first step.
  virtual std::span<double> kept_numbers() { return {}; }
  /// Numbers every rank has for itself between steps, such as samples since settle(): checkpoints hold those of all.
  virtual std::span<double> own_numbers() { return {}; }
  /// What exchanging has cost this rank so far.
  virtual comm::ExchangeCost cost() const { return {}; }
  /// What it does, and how, for reports: "sync: shared memory of 2 ranks, 3 buckets".
  virtual std::string describe() const = 0;
};

Table<Row<Strategy>> strategies();

}  // namespace isobar::parallel
