// Recent: the last finished steps and epochs of a run, remembered by every rank: when rank 0 dies, the rank that takes
// its place writes the lines that had not reached the disk. Bounded: older ones are forgotten.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "isobar/train/events.hpp"

namespace isobar::train {

class Recent {
 public:
  static constexpr std::size_t most_steps = 1 << 14, most_epochs = 256;

  /// If the run went back, a step or epoch that is added again replaces the earlier one.
  void add(const StepDone& step);
  void add(const EpochDone& epoch);
  /// Reports everything after `reached` to the sink, in the order it happened.
  void tell(Sink& sink, const Reached& reached) const;

  const std::deque<StepDone>& steps() const { return steps_; }
  const std::deque<EpochDone>& epochs() const { return epochs_; }

  /// As bytes, for other ranks of the same program.
  std::vector<std::byte> pack() const;
  static Recent unpack(std::span<const std::byte> bytes);

 private:
  std::deque<StepDone> steps_;
  std::deque<EpochDone> epochs_;  // without viewers
};

}  // namespace isobar::train
