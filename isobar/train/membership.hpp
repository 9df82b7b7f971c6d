// Membership: ranks that die and ranks that take their place, as one rank sees it: what the members of a new group
// bring, which state the run continues from, and what this rank hands on to the next group when members change again.
// If `carried` is null, ranks do not die and all of this does nothing.
#pragma once

#include "isobar/train/carried.hpp"
#include "isobar/train/listeners.hpp"

namespace isobar::train {

/// What a session has counted, for the next one.
struct SessionCounts {
  double seconds = 0, step_seconds = 0;  ///< since it was opened, and the part spent in steps
  std::int64_t skipped = 0;              ///< bad samples, on all ranks
};

class Membership {
 public:
  /// Finds out what the ranks of `world` have between them. All ranks must call; all arguments must outlive this.
  Membership(comm::Comm& world, comm::Comm& talk, Carried* carried);

  /// Samples of a step since the first start, as known by some rank; 0: the run begins.
  std::int64_t batch() const { return standing_.batch; }
  void note_batch(std::int64_t batch);
  /// Whether some rank has a state in memory that the run continues from.
  bool has_state() const { return standing_.ahead >= 0; }
  /// Whether the ranks had agreed to stop.
  bool was_stopping() const { return standing_.stopping; }

  /// Members of the last group that had a state.
  std::size_t count_before() const { return carried_ ? carried_->members.size() : 0; }
  /// The newest such state, which is then on every rank. All ranks must call, if there is one.
  const checkpoint::Snapshot& take_state();
  /// The model now holds the state at that step, from the memory of a rank or from the folder of the run.
  void opened(std::int64_t step);

  void note(const StepDone& done);
  void note(const EpochDone& done);
  void finished_step(std::int64_t step);
  /// Repeats to the sinks of rank 0 what every rank knows: if rank 0 died, lines may have been lost with it.
  void tell_again(const Start& start, const Listeners& listeners) const;

  /// The members have changed: keeps this rank's state, which `take` copies, for the next group; without `take` no
  /// state. Sends nothing: the next group finds out who is ahead.
  void leave(const std::function<void(checkpoint::Snapshot& into)>& take, const SessionCounts& counts, bool stopping);

  std::vector<MembersChange> changes() const { return carried_ ? carried_->changes : std::vector<MembersChange>(); }
  /// The counts of earlier sessions.
  SessionCounts before() const;

 private:
  comm::Comm& world_;
  comm::Comm& talk_;
  Carried* carried_;
  Standing standing_;
};

}  // namespace isobar::train
