// Strategy: how ranks keep their parameters consistent: forward, backward, exchange, update, in this strategy's order.
// Ordinary code over a Replica, so that it runs the same on a real and on a simulated machine.
#pragma once

#include <atomic>

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

/// The block of weights that a rank alone has, where the models of all ranks stay apart.
inline constexpr std::string_view member_weights = "weights of the member";

/// What is known of a strategy before it is opened.
struct StrategyTraits {
  /// With Care::whole, a step that was interrupted within an exchange, by comm::MembersChanged, leaves the weights and
  /// slots of the last finished step, and nothing else is lost.
  bool recovers = true;
  bool gradients_in_arena = false;  ///< they may share memory with a plan's other values
  bool whole_models = false;        ///< each rank trains a model of its own, which no split may cut
  /// These models stay apart: each begins with initial weights of its own, and state() keeps them as `member_weights`.
  /// They are judged together, by the mean of what they predict.
  bool members_apart = false;
  bool all_samples = false;                      ///< each rank takes all samples, in an order of its own
  int servers = 0;                               ///< ranks that serve, however many there are
  bool by_layer = false;                         ///< as many serve as the model has layers: expect_layers() says so
  bool nests = false;                            ///< every step ends with one update of each weight, by that step's sum
  double warn_seconds = 10, stall_seconds = 60;  ///< a wait for other ranks is reported, and ends the job
};

/// What ranks are in a run, by rank.
struct Roles {
  enum class Role { trains, serves };
  std::vector<Role> role{};
  std::vector<int> team{};  ///< ranks of one team take their steps together; -1: in none, since it serves
  comm::Pace pace = comm::Pace::lockstep;  ///< between teams
};

/// A rank as it would be in a step, before there is one.
struct PlannedRank {
  Roles::Role role = Roles::Role::trains;
  comm::Group circle{};  ///< whom it exchanges with: its team; where some ranks serve, all
  std::span<const exec::GradientPlace> places{};
  std::size_t gradients = 0;         ///< numbers of all, padding included
  int slots = 0;                     ///< of the optimizer
  std::vector<std::string> names{};  ///< of the parameters at these places
  int teams = 1;                     ///< of ranks that train, in the whole run
};

/// What a step takes on one rank.
struct StepNeeds {
  comm::Traffic traffic{};  ///< sent
  std::size_t bytes = 0;    ///< memory, besides weights, gradients and optimizer slots of a rank that trains
};

/// What a rank has that serves. All must outlive Strategy::serve().
struct ServerSetting {
  const optim::Optimizer& optimizer;
  const std::atomic<bool>* stop = nullptr;            ///< when set, all ranks shall stop; null: never
  StepTrace* trace = nullptr;                         ///< where each update is recorded as a step; null: nowhere
  std::function<void(std::int64_t updates)> begun{};  ///< called once: the run begins after so many updates
  /// Called for updates that belong to a traced step of a worker, with their events.
  std::function<void(std::int64_t update, double begin, double seconds, std::span<const Event> events)> traced{};
  Pretence pretends{};
};

/// How far Strategy::settle() goes; each includes those before it.
enum class Settle {
  sums,     ///< sums under way have arrived, and every rank holds what it trains with: state() is whole
  judged,   ///< every rank holds the model that is evaluated and saved; the next step goes on with the rank's own
  updates,  ///< what is still under way is applied: every rank is left with the final model
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  const StrategyTraits& traits() const { return traits_; }

  /// The layers of the model that are trained; once, before anything else, where traits().by_layer.
  virtual void expect_layers(std::span<const std::string>) {}
  /// What so many ranks will be; a number that cannot be is a UsageError. All train in one team, if a strategy says
  /// nothing else.
  virtual Roles roles(int ranks) const;
  /// What a step takes on such a rank; on one that serves, a step of all that train. Nothing, if a strategy says
  /// nothing else.
  virtual StepNeeds needs(const PlannedRank&) const { return {}; }
  /// Joins the ranks, once, before the parameter store is made: returns memory for so many gradients, from which they
  /// travel without a copy, or nothing where any memory will do. All ranks must call; `world` must outlive this.
  virtual std::span<float> open(comm::Comm& world, std::size_t gradients, const Care& care) = 0;
  /// The replica holds what the run begins with, after so many steps, and state() what the strategy does. All ranks
  /// that train must call, once, before the first step.
  virtual void begin(Replica&, std::int64_t /*steps*/) {}
  /// One training step over this rank's micro-batches, in order; one without rows takes part in the exchange only.
  /// Returns the loss over the samples of the team. A step that throws leaves running statistics and counts of samples
  /// as they were before it; with Care::whole everything else too. All ranks of the team must call.
  virtual double step(Replica& replica, std::span<const Feed> feeds, const optim::Step& step) = 0;
  /// Between steps: before evaluations, checkpoints and the end. All ranks of the team must call.
  virtual void settle(Replica&, Settle) {}
  /// Whether this team shall stop before its next step: because it wants to, or because it has heard that another
  /// does, which it is told as soon as possible.
  virtual bool stops(bool mine) { return mine; }
  /// This team takes no more steps: returns when no team does, and all is where settle() wants it. All ranks of the
  /// team must call, once.
  virtual void end(Replica&) {}
  /// What a rank does that serves, after open(), from the first step of the others to their last.
  virtual void serve(const ServerSetting&) { expects(false, "a strategy with ranks that serve"); }
  /// What it keeps from step to step besides the model: checkpoints hold it, and write it back before the first step.
  /// Blocks may lie in the replica.
  virtual exec::StateBlocks state(Replica&) { return {}; }
  /// What exchanging has cost this rank so far.
  virtual comm::ExchangeCost cost() const { return {}; }
  /// What it does, and how, for reports: "sync: shared memory of 2 ranks, 3 buckets".
  virtual std::string describe() const = 0;
  /// What came of it, for the end of a run: who did how much; empty where there is nothing to tell.
  virtual std::string summary() const { return {}; }

 protected:
  explicit Strategy(const StrategyTraits& traits) : traits_(traits) {}
  void set_servers(int servers) { traits_.servers = servers; }

 private:
  StrategyTraits traits_;
};

Table<Row<Strategy>> strategies();

}  // namespace isobar::parallel
