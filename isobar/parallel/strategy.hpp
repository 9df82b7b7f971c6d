// Strategy: how ranks keep their parameters consistent: forward, backward, exchange, update, in this strategy's order.
// Ordinary code over a Replica, so that it runs the same on a real and on a simulated machine.
#pragma once

#include "isobar/base/row.hpp"
#include "isobar/comm/circle.hpp"
#include "isobar/comm/reducer.hpp"
#include "isobar/exec/state_block.hpp"
#include "isobar/parallel/not_finite.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

/// How carefully a strategy takes its steps.
struct Care {
  /// All sums are awaited before the first weight is updated: a step that throws before has changed nothing. Otherwise
  /// updates overlap with sums.
  bool whole = false;
  /// Numbers that are not finite, in the loss, the running statistics or a summed gradient, are found before they are
  /// applied (whole: before anything is), and step() throws NotFinite, alike on all ranks.
  bool finite = true;
};

/// What is known of a strategy before it is opened.
struct StrategyTraits {
  /// With Care::whole, a step that was interrupted within an exchange, by comm::MembersChanged, leaves the weights and
  /// slots of the last finished step, and nothing else is lost.
  bool recovers = true;
  bool gradients_in_arena = false;               ///< they may share memory with a plan's other values
  double warn_seconds = 10, stall_seconds = 60;  ///< a wait for other ranks is reported, and ends the job
};

/// What ranks are in a run, by rank.
struct Roles {
  enum class Role { trains, serves };
  std::vector<Role> role;
  std::vector<int> team;  ///< ranks of one team take their steps together, and share the samples of a step
  comm::Fate fate = comm::Fate::world;
};

/// What a step takes on one rank.
struct StepNeeds {
  comm::Traffic traffic{};  ///< sent
  std::size_t bytes = 0;    ///< memory, besides weights, gradients and optimizer slots
};

/// How far Strategy::settle() goes; each includes those before it.
enum class Settle {
  sums,        ///< sums under way have arrived: state() is whole
  statistics,  ///< what ranks gather for themselves, such as running statistics, is equal on all
  updates,     ///< what is still under way is applied: every rank is left with the final model
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  const StrategyTraits& traits() const { return traits_; }

  /// What so many ranks will be; a number that cannot be is a UsageError. All train in one team, if a strategy says
  /// nothing else.
  virtual Roles roles(int ranks) const;
  /// What a step takes on a rank of that team, for gradients in these places; nothing, if a strategy says nothing else.
  virtual StepNeeds needs(const comm::Group& /*team*/, std::span<const exec::GradientPlace> /*places*/,
                          std::size_t /*gradients*/) const {
    return {};
  }
  /// Joins the ranks, once, before the parameter store is made: returns memory for so many gradients, from which they
  /// travel without a copy, or nothing where any memory will do. All ranks must call; `world` must outlive this.
  virtual std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) = 0;
  /// One training step over this rank's micro-batches, in order; one without rows takes part in the exchange only.
  /// Returns the loss over the samples of all ranks. A step that throws leaves running statistics and counts of samples
  /// as they were before it; with Care::whole everything else too. All ranks must call.
  virtual double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) = 0;
  /// Between steps: before evaluations, checkpoints and the end. All ranks must call.
  virtual void settle(Replica&, Settle) {}
  /// What it keeps from step to step besides the model: checkpoints hold it, and write it back before the first step.
  virtual exec::StateBlocks state() { return {}; }
  /// What exchanging has cost this rank so far.
  virtual comm::ExchangeCost cost() const { return {}; }
  /// What it does, and how, for reports: "sync: shared memory of 2 ranks, 3 buckets".
  virtual std::string describe() const = 0;

 protected:
  explicit Strategy(const StrategyTraits& traits) : traits_(traits) {}

 private:
  StrategyTraits traits_;
};

Table<Row<Strategy>> strategies();

}  // namespace isobar::parallel
