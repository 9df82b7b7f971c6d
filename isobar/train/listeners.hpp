// Listeners: the sinks of a run as the parts of the trainer tell them, each in its turn. Rank 0 tells all of them;
// other ranks tell those that listen on every rank, of the start, of traced steps and of the end.
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

  /// On rank 0 the sinks in their turns, otherwise none.
  std::span<Sink* const> on_first_rank() const;

 private:
  std::vector<Sink*> sinks_;
  bool first_rank_;
};

}  // namespace isobar::train
