// StepStart: what a forward pass changes by itself, the running statistics, as it was when the step began, so that a
// step that is not to count leaves no trace. They are few: nothing else is copied.
#pragma once

#include <exception>
#include <vector>

#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

class StepStart {
 public:
  /// Copies what is not trained.
  void keep(const Replica& replica);
  /// Puts it back; nothing when nothing was kept.
  void put_back(const Replica& replica) const;

 private:
  std::vector<float> kept_;
};

/// A step, as long as it lives: if an exception ends it, what the step began with is put back.
class StepGuard {
 public:
  /// Both must outlive this.
  StepGuard(StepStart& start, const Replica& replica) : start_(start), replica_(replica) { start_.keep(replica_); }
  ~StepGuard() {
    if (failed()) start_.put_back(replica_);
  }
  StepGuard(const StepGuard&) = delete;

  /// Whether an exception is on its way out of the step.
  bool failed() const { return std::uncaught_exceptions() > before_; }

 private:
  StepStart& start_;
  const Replica& replica_;
  int before_ = std::uncaught_exceptions();
};

}  // namespace isobar::parallel
