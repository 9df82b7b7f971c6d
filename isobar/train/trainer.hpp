// Trainer: one run on one group of ranks, from its parts: Session (plans, weights, batches), Loop (epochs and steps),
// Keeper (state and checkpoints), Membership (deaths and spares). It knows strategies and sinks by their interfaces.
// The same recipe and seed give the same bits, whether or not the run was interrupted and resumed on the way; on
// another number of ranks it trains on the same batches. Whatever ends one rank ends all of them with one message.
#pragma once

#include <optional>

#include "isobar/train/loop.hpp"
#include "isobar/train/waiting.hpp"

namespace isobar::train {

class Trainer {
 public:
  /// Plans both phases, checks data against network, and that all ranks have the same; nothing is written yet. All
  /// ranks of `world` must call; it and the sinks must outlive the trainer. Rank 0 alone writes files and tells the
  /// sinks, except those that listen on every rank. With `carried`, which must outlive the trainer, the run goes on
  /// from the newest state a rank has in there; and when it ends with MembersChanged, this rank's state is in there.
  Trainer(Job job, comm::Comm& world, std::vector<Sink*> sinks, Carried* carried = nullptr);
  /// As above, for one rank alone.
  Trainer(Job job, std::vector<Sink*> sinks);

  /// Trains to the end, or until `stop` is set on some rank: then a checkpoint is written and the run can be resumed.
  End::Reason run(const std::atomic<bool>* stop = nullptr);

  /// The same piece by piece, for who drives it: open() once, advance() as often as wanted, close() once. All ranks
  /// must call them alike.
  void open();
  /// False when `stop` was set on some rank before `until` or the end of the run was reached.
  bool advance(const Until& until = {}, const std::atomic<bool>* stop = nullptr);
  /// Writes the last checkpoint and tells the sinks.
  End::Reason close();

  /// Whether this rank trains. One that serves has none of what follows.
  bool trains() const { return !serving_; }
  const checkpoint::Position& position() const { return keeper_->position(); }
  const Evaluated& last_evaluation() const { return loop_->evaluated(); }
  const Trace& trace() const { return trace_.all(); }
  const graph::Plan& plan() const { return session_->plan(); }
  const Batching& batching() const { return session_->batching(); }
  exec::ParamStore& store() { return session_->store(); }
  /// Of a training step, by all ranks that share a model.
  double flops_per_sample() const { return session_->flops_per_sample(); }

 private:
  Trainer(Job job, std::unique_ptr<comm::Comm> alone, comm::Comm* world, std::vector<Sink*> sinks, Carried* carried);
  /// Does a part of the run; whatever ends it, the others are told or this rank's state is left behind.
  template <class F>
  auto guarded(F part);
  /// What a rank does that serves; returns when no rank trains any more.
  End::Reason serve(const std::atomic<bool>* stop);
  Start start_of(const Job& job, std::int64_t first_step) const;
  void announce();
  void tell_end(End::Reason reason, const SkippedSamples& skipped);

  StepTrace trace_;                    // before the strategy, whose threads may record until they end
  std::unique_ptr<comm::Comm> alone_;  // the world, when there is no other
  comm::Comm& world_;
  std::optional<RunGroups> groups_;
  Listeners listeners_;
  std::optional<Membership> members_;
  std::optional<Job> serving_;  // on a rank that serves; it has none of what follows
  std::optional<Session> session_;
  std::optional<Keeper> keeper_;
  std::optional<Loop> loop_;
  std::optional<Vigil> vigil_;       // while ranks may wait for each other
  std::optional<double> opened_at_;  // on now_seconds(), once the store holds the state of the run
};

}  // namespace isobar::train
