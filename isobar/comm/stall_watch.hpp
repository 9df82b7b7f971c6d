// StallWatch: watches one wait for a sum. A wait without progress is noted for other ranks to see; then a line on
// stderr says which ranks are missing and what they last reported; finally the job is ended with that line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isobar/comm/reducer.hpp"

namespace isobar::comm {

class StallWatch {
 public:
  /// The missing ranks; empty when they are not known.
  using Missing = std::function<std::vector<int>()>;

  StallWatch(Comm& comm, const ReducerOptions& options, const std::string& what)
      : comm_(comm), options_(options), what_(what), since_(comm.now()) {}
  ~StallWatch();
  StallWatch(const StallWatch&) = delete;

  /// The wait has made progress: slow is not stalled, so the clock starts again.
  void progress() { since_ = comm_.now(); }
  /// Waits for a message, and looks now and then.
  void wait(Ticket& ticket, const Missing& missing);
  /// Checks the clock and failures of other ranks; throws when the wait has lasted too long, or a rank failed.
  void look(const Missing& missing);

 private:
  std::string report(double waited, const std::vector<int>& missing);

  Comm& comm_;
  const ReducerOptions& options_;
  const std::string& what_;
  double since_;
  bool noted_ = false, warned_ = false;
};

}  // namespace isobar::comm
