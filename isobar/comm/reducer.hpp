// Reducer: sums of gradients over all ranks, started while the backward pass still runs. It owns the memory the
// gradients lie in, so that ranks of one node add straight from each other's memory, without a copy. Across nodes a
// thread walks schedules in the background and sleeps between looks; on one node nothing is hidden by a thread (adding
// is work for the same cores), so the work is done by whoever waits. All ranks start the same sums in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "isobar/base/spec.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

struct ReducerOptions {
  /// "auto" (measured at the start, remembered in a file), "shared", "native", or an algorithm of all_reduces().
  Spec algorithm = "auto";
  Wire wire = Wire::float32;
  double warn_seconds = 10;   ///< a sum that takes longer is reported: which ranks are missing, and what they do
  double stall_seconds = 60;  ///< after which the job is ended
  std::string cache{};        ///< file that remembers what "auto" measured; empty: the user's cache folder
};

/// What exchanging has cost this rank so far.
struct ExchangeCost {
  double waited_seconds = 0;  ///< the caller stood still, or summed itself
  double busy_seconds = 0;    ///< from the start of a sum to its end, overlapping sums counted once
  std::int64_t sums = 0;
  Traffic traffic{};
};

class Reducer {
 public:
  using Sum = std::int64_t;

  virtual ~Reducer() = default;
  /// The memory sums are made in, as many floats as were asked for; zero at first.
  virtual std::span<float> memory() = 0;
  /// Begins to sum a range of memory() over all ranks; it must not be touched before wait(). Of several sums under way
  /// the one with the highest priority is served first. `what` names it where ranks are missing. `ended` is called
  /// when the sum is there, by whatever thread finds that out; it must be quick.
  virtual Sum start(Range range, int priority, std::string what, std::function<void()> ended = {}) = 0;
  /// Returns when the sum is there.
  virtual void wait(Sum sum) = 0;
  /// What "auto" chose, or what was asked for: for reports.
  virtual std::string describe() const = 0;
  virtual ExchangeCost cost() const = 0;
};

/// Makes the reducer that suits the group and the options. All ranks must call; `comm` must outlive it. A group of one
/// rank gets one that does nothing.
std::unique_ptr<Reducer> make_reducer(Comm& comm, std::size_t floats, const ReducerOptions& options = {});

}  // namespace isobar::comm
