// Reducer: sums of gradients over all ranks, started while the backward pass still runs. They are made where the
// gradients lie, in memory of the caller (gradient_memory.hpp), so that ranks of one node add directly from each
// other's memory, without a copy. Across nodes the thread of the rank's MessageEngine walks schedules and sleeps
// between polls; on one node a thread would hide nothing (adding occupies the same cores), so the rank that waits does
// the work. All ranks start the same sums in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "isobar/base/spec.hpp"
#include "isobar/comm/comm.hpp"
#include "isobar/comm/gradient_memory.hpp"
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

struct ReducerOptions {
  /// "auto" (measured at the start, remembered in a file), "shared", "native", or an algorithm of all_reduces().
  Spec algorithm = "auto";
  std::shared_ptr<const codec::Codec> codec = codec::plain();  ///< how numbers travel
  double warn_seconds = 10;   ///< a sum that takes longer is reported: which ranks are missing, and what they are doing
  double stall_seconds = 60;  ///< after this time the job is ended
  std::string cache{};        ///< file that remembers what "auto" measured; empty: the user's cache folder
};

/// What exchanging has cost this rank so far.
struct ExchangeCost {
  double waited_seconds = 0;  ///< the caller was idle, or did the sum itself
  double busy_seconds = 0;    ///< from the start of a sum to its end, overlapping sums counted once
  std::int64_t sums = 0;
  Traffic traffic{};

  ExchangeCost& operator+=(const ExchangeCost& more) {
    waited_seconds += more.waited_seconds;
    busy_seconds += more.busy_seconds;
    sums += more.sums;
    traffic += more.traffic;
    return *this;
  }
  ExchangeCost& operator-=(const ExchangeCost& less) {
    waited_seconds -= less.waited_seconds;
    busy_seconds -= less.busy_seconds;
    sums -= less.sums;
    traffic -= less.traffic;
    return *this;
  }
  friend ExchangeCost operator-(ExchangeCost now, const ExchangeCost& before) { return now -= before; }
};

/// What is to be summed, and how.
struct SumRequest {
  Range range{};                  ///< of the reducer's memory
  int priority = 0;               ///< of several sums under way the one with the highest is served first
  std::string what{};             ///< names the sum in messages about missing ranks
  std::function<void()> ended{};  ///< called when the sum is complete, by any thread; it must be quick
  bool exact = false;             ///< numbers travel as they are, whatever the codec
  /// Where tensors lie in the range, each encoded by itself; empty: it is one. Read by start() only.
  std::span<const Range> parts{};
};

class Reducer {
 public:
  using Sum = std::int64_t;

  virtual ~Reducer() = default;
  /// The memory in which it makes sums: this rank's part of what it was made with.
  virtual std::span<float> memory() = 0;
  /// Begins to sum a range of memory() over all ranks; the range must not be touched before wait(). With a codec whose
  /// numbers are gathered, it holds what this rank has sent until then.
  virtual Sum start(SumRequest sum) = 0;
  /// Returns when the sum is complete.
  virtual void wait(Sum sum) = 0;
  /// What "auto" chose, or what was requested: for reports.
  virtual std::string describe() const = 0;
  virtual ExchangeCost cost() const = 0;
};

/// What a rank sends for one sum, as a reducer with these options would make it, before anything is measured: at most,
/// where the codec may send less; between ranks of one node that add in shared memory, what it reads. Pure: for any
/// group.
Traffic traffic_of(const Group& group, const SumRequest& sum, const ReducerOptions& options);

/// Makes the reducer that suits the group and the options; `memory` is of gradient_memory() for the same two. All ranks
/// must call; `comm` and `memory` must outlive it. For a group of one rank it does nothing.
std::unique_ptr<Reducer> make_reducer(Comm& comm, GradientMemory& memory, const ReducerOptions& options);

}  // namespace isobar::comm
