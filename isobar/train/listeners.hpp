// Listeners: passes the events of a run to its sinks, in the order of their turns. On rank 0 all sinks receive them; on
// other ranks only those that listen on every rank, and only the start, traced steps and the end.
#pragma once

#include <vector>

#include "isobar/train/events.hpp"

namespace isobar::train {

class Listeners {
 public:
  /// The sinks must outlive this.
  Listeners(std::vector<Sink*> sinks, bool first_rank);

  void start(const Start& start) const;
  void step(const StepDone& done) const;
  void bad_step(const BadStep& bad) const;
  void traced(const StepTraced& traced) const;
  void epoch(const EpochDone& done) const;
  void checkpoints(const std::vector<CheckpointDone>& saved) const;
  void end(const End& end) const;

  /// On rank 0 the sinks in the order of their turns, otherwise empty.
  std::span<Sink* const> on_first_rank() const;

 private:
  std::vector<Sink*> sinks_;
  bool first_rank_;
};

}  // namespace isobar::train
