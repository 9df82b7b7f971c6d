// Membership: ranks that die and ranks that take their place, as one rank sees it: what the members of a new group
// bring, which state the run goes on from, and what this rank leaves behind for the next group when members change
// again. Without anything carried, ranks do not die and all of this does nothing.
#pragma once

#include "isobar/train/carried.hpp"
#include "isobar/train/listeners.hpp"

namespace isobar::train {

/// What a session has counted, for the one after it.
struct SessionCounts {
  double seconds = 0, step_seconds = 0;  ///< since it was opened, and of these in steps
  std::int64_t skipped = 0;              ///< bad samples, on all ranks
};

class Membership {
 public:
  /// Finds out what the ranks of `world` have between them. All ranks must call; all of these must outlive this.
  Membership(comm::Comm& world, comm::Comm& talk, Carried* carried);

  /// Samples of a step since the first start, as some rank knows it; 0: the run begins.
  std::int64_t batch() const { return standing_.batch; }
  void note_batch(std::int64_t batch);
  /// Whether some rank has a state in memory that the run goes on from.
  bool has_state() const { return standing_.ahead >= 0; }
  /// Whether the ranks had agreed to stop.
  bool was_stopping() const { return standing_.stopping; }

  /// That state, the newest, now on every rank. All ranks must call, when there is one.
  const checkpoint::Snapshot& take_state();
  /// The model holds the state at that step: taken from others in memory, or from the folder of the run.
  void opened(std::int64_t step);

  void note(const StepDone& done);
  void note(const EpochDone& done);
  void finished_step(std::int64_t step);
  /// Tells the sinks of rank 0 again what every rank knows: a rank 0 that died may have taken lines with it.
  void tell_again(const Start& start, const Listeners& listeners) const;

  /// The members have changed: the next group finds here what this rank has, which `take` copies; without it nothing.
  /// Nothing is sent: that group finds out who is ahead.
  void leave(const std::function<void(checkpoint::Snapshot& into)>& take, const SessionCounts& counts, bool stopping);

  std::vector<MembersChange> changes() const { return carried_ ? carried_->changes : std::vector<MembersChange>(); }
  /// Of the sessions before this one.
  SessionCounts before() const;

 private:
  comm::Comm& world_;
  comm::Comm& talk_;
  Carried* carried_;
  Standing standing_;
};

}  // namespace isobar::train
