// GoodStates: the states a run can go back to if its numbers become bad: two copies in memory. A new copy is taken
// every few steps and counts only after as many good steps have followed it, so that the run never goes back to a state
// from which it went astray.
#pragma once

#include "isobar/checkpoint/snapshot.hpp"

namespace isobar::checkpoint {

class GoodStates {
 public:
  /// Steps between copies.
  explicit GoodStates(std::int64_t every = 1) : every_(every) {}

  /// The state is where a run would go on from, at its start or from a checkpoint: it counts at once.
  void begin(const exec::ParamStore& store, const Position& position, const exec::StateBlocks& state);
  /// Whether a copy is due after the last step of the position, which was good.
  bool due(const Position& position) const { return position.step - taken_ >= every_; }
  /// The newest copy was followed by good steps: it counts now, and a newer one is taken.
  void renew(const exec::ParamStore& store, const Position& position, const exec::StateBlocks& state);
  /// The state to go back to; the next copy is then due as many steps after `position` as ever.
  const Snapshot& go_back(const Position& position);

  /// The memory that both copies take.
  std::size_t bytes() const { return good_.bytes() + newest_.bytes(); }

 private:
  std::int64_t every_;
  std::int64_t taken_ = 0;  // the step at which the newest copy was taken, or would have been
  Snapshot good_, newest_;
};

}  // namespace isobar::checkpoint
