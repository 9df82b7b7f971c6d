// SumWatch: lets people see the sums of a strategy: in the trace, in the flight recorder, and in what a rank says it is
// doing. One rank alone exchanges nothing, so nothing of it is told.
#pragma once

#include <string>
#include <vector>

#include "isobar/base/clock.hpp"
#include "isobar/base/step_trace.hpp"
#include "isobar/comm/reducer.hpp"

namespace isobar::parallel {

class SumWatch {
 public:
  /// Knows the sums of so many buckets by their numbers, and behind them numbers(). `trace` may be null; it and the
  /// ranks must outlive this and all sums.
  SumWatch(comm::Comm& world, StepTrace* trace, int buckets);
  /// The sum of loss and statistics.
  int numbers() const { return static_cast<int>(names_.size()) - 1; }

  /// What is watched from now on belongs to this step.
  void begin(std::int64_t step);
  std::int64_t step() const { return step_; }
  /// Starts a sum, which is seen until it ends; if the request does not name it, it has the name of `which`.
  comm::Reducer::Sum start(comm::Reducer& reducer, comm::SumRequest request, int which);
  /// Does something for a sum, such as starting it or, with wait(), waiting for it, and records the time.
  template <class Work>
  void timed(int which, double bytes, Work work) {
    const double begin = now_seconds();
    work();
    if (!trace_) return;
    trace_->main().record({Category::communication, in_trace_[static_cast<std::size_t>(which)], step_, begin,
                           now_seconds() - begin, 0, bytes});
  }
  template <class Work>
  void wait(int which, double bytes, Work work) {
    say(names_[static_cast<std::size_t>(which)]);
    timed(which, bytes, work);
  }

 private:
  void say(const std::string& doing) { world_.note(fmt::format("step {}: {}", step_, doing)); }

  comm::Comm& world_;
  StepTrace* trace_;
  std::vector<std::string> names_;       // by sum
  std::vector<std::uint32_t> in_trace_;  // of the names; empty without a trace
  std::int64_t step_ = 0;
};

}  // namespace isobar::parallel
