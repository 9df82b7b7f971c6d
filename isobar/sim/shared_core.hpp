// SharedCore: a rank whose thread that communicates has no core of its own. What it needs is owed: while the rank
// computes both get half of the core until it is paid, and while the rank waits it costs nothing.
#pragma once

#include <algorithm>

namespace isobar::sim {

class SharedCore {
 public:
  /// Communication will need so many seconds of the core.
  void owe(double seconds) { owed_ += seconds; }
  /// How long so many seconds of computing take.
  double compute(double seconds) {
    const double paid = std::min(owed_, seconds);
    owed_ -= paid;
    return seconds + paid;
  }
  /// The rank stands still for so long.
  void wait(double seconds) { owed_ = std::max(0.0, owed_ - seconds); }

 private:
  double owed_ = 0;
};

}  // namespace isobar::sim
