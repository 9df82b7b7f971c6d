// Recent: the steps and epochs a run has finished last, as every rank remembers them: when rank 0 dies, whoever takes
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

  /// What is told again, because the run went back, replaces what was told before.
  void add(const StepDone& step);
  void add(const EpochDone& epoch);
  /// Tells the sink everything behind what it has, in the order it happened.
  void tell(Sink& sink, const Reached& reached) const;

  const std::deque<StepDone>& steps() const { return steps_; }
  const std::deque<EpochDone>& epochs() const { return epochs_; }

  /// As bytes, for other ranks of the same program.
  std::vector<std::byte> pack() const;
  static Recent unpack(std::span<const std::byte> bytes);

 private:
  std::deque<StepDone> steps_;
  std::deque<EpochDone> epochs_;  // without viewer
};

}  // namespace isobar::train
