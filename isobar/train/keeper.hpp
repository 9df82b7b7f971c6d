// Keeper: the state of a run on this rank: where it stands, its copies in memory, and its checkpoints. Saving changes
// nothing in the run: every rank gets back what it had, to the last bit, and training goes on while rank 0 writes.
#pragma once

#include "isobar/checkpoint/good_states.hpp"
#include "isobar/train/listeners.hpp"
#include "isobar/train/membership.hpp"
#include "isobar/train/saving.hpp"
#include "isobar/train/session.hpp"

namespace isobar::train {

class Keeper {
 public:
  /// Both must outlive this.
  Keeper(Session& session, const Listeners& listeners);

  /// Puts the state of the run into the model: one that some rank has in memory, otherwise that of the run's folder, as
  /// after a new launch. All ranks must call.
  void open(Membership& members);
  /// Copies the state after the last step that was finished.
  void take(checkpoint::Snapshot& into);

  checkpoint::Position& position() { return position_; }
  const checkpoint::Position& position() const { return position_; }
  /// The step or epoch at this position is finished.
  void finish() { finished_ = position_; }
  /// What later checkpoints say of an epoch. Together with finish(): a state that goes to another rank has both or
  /// neither.
  void finish(const EpochDone& done);

  /// Keeps a copy to go back to, when one is due after a good step.
  void renew_good_state();
  /// Brings the model back to the last good state: returns the step it was taken at. Samples, steps and rates go on, so
  /// that no batch is met twice.
  std::int64_t go_back();

  /// Whether a checkpoint is due behind the next step, which takes so many batches: rank 0 decides, by its clock and by
  /// what is still being written, and tells the others before that step. False on other ranks.
  bool save_follows(std::int64_t batches);
  /// All ranks must call these.
  void save(checkpoint::SaveAs as = {});
  void save_behind(const EpochDone& done);
  /// The one that is awaited. Returns why it could not be written, on rank 0, or nothing.
  std::string save_last();
  /// Does not wait for what is being written any more.
  void release();

  /// The results so far by which choices are made: those on the validation set, or on the test set without one.
  const Judgements& judgements() const { return judgements_; }
  /// Of an epoch, its evaluation if it had one.
  const std::map<std::string, double>& judged(const EpochDone& done) const;
  /// Whether the run ends before its last epoch: too many evaluations in a row were no better than one before.
  bool ends_early() const { return ends_early(judgements_); }
  /// The same when an evaluation with these results has been added.
  bool would_end_early(const std::map<std::string, double>& results) const;

  std::size_t good_state_bytes() const { return good_states_.bytes(); }
  SaveCounts counts() const { return saving_ ? saving_->counts() : SaveCounts(); }

 private:
  void load(Membership& members);
  void recall_judgements();
  bool ends_early(const Judgements& judgements) const;
  void begin_good_states();
  void settle(parallel::Settle until);
  void draft(checkpoint::Snapshot& into) const;

  Session& session_;
  const Listeners& listeners_;
  checkpoint::Position position_, finished_;
  std::string metrics_;                 // of the epochs so far, for checkpoints: one line of JSON each
  Judgements judgements_;               // what metrics_ says of evaluations
  double best_ = 0;                     // of the metric that best.h5 follows, as every rank knows it; NaN: none yet
  checkpoint::GoodStates good_states_;  // empty unless the run may go back to them
  std::unique_ptr<Saving> saving_;      // on rank 0, once the run is open
};

}  // namespace isobar::train
