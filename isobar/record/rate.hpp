// Rate: the current speed of a run, from exponentially decaying sums: old steps fade over about ten seconds, and even
// the first step gives an unbiased rate.
#pragma once

#include <optional>

#include "isobar/train/events.hpp"

namespace isobar::record {

class Rate {
 public:
  void add(const train::StepDone& step);

  /// These are 0 before the first step.
  double samples_per_second() const;
  double seconds_per_step() const;
  /// The part of the time spent waiting for input, in [0, 1].
  double waiting() const;
  /// The part of the time this rank stood still for other ranks, in [0, 1].
  double exchanging() const;
  /// Likewise for messages of the model alone.
  double exchanging_messages() const;
  /// The part of the time that messages of the model were under way in which nobody waited; nothing without messages.
  std::optional<double> hidden_messages() const;

 private:
  double steps_ = 0, samples_ = 0, seconds_ = 0, wait_seconds_ = 0, exchange_seconds_ = 0;
  double message_seconds_ = 0, messages_busy_ = 0;
};

}  // namespace isobar::record
