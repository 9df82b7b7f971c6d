// StepStart: what a forward pass changes by itself, the running statistics, as it was when the step began, so that a
// step that is not to count leaves no trace. They are few: nothing else is copied.
#pragma once

#include <vector>

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

class StepStart {
 public:
  /// Copies what is not trained.
  void keep(Replica& replica);
  /// Puts it back; nothing when nothing was kept.
  void put_back(Replica& replica) const;

 private:
  std::vector<float> kept_;
};

}  // namespace isobar::parallel
