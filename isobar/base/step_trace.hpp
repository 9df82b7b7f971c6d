// StepTrace: a trace divided into training steps, and the work of other threads beside them. Times are added up for
// every step, idle time included; events are handed out only for traced steps, so that memory does not grow with the
// length of a run.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "isobar/base/trace.hpp"

namespace isobar {

class StepTrace {
 public:
  /// Identifies work on another thread, from begin_beside() to end_beside().
  using Mark = std::int64_t;

  /// Where the training thread records its work. If an event lies within another, its time is cut out of the outer one.
  Trace& main() { return main_; }
  /// Sums over the whole run.
  const Trace& all() const { return all_; }

  /// A step began at time `begin` of now_seconds().
  void begin_step(std::int64_t step, double begin, bool traced);
  /// The step is over. Returns its events if it is traced, valid until the next call: first those of the main lane in
  /// sequence, with idle time between them, then those of other lanes in the order they began.
  std::span<const Event> end_step(double end);
  /// Whether the events of the step under way are going to be handed out.
  bool is_traced() const { return traced_; }
  /// There is no step, or the step does not count: events recorded since the last step are only added up.
  void drop_step();

  /// From any thread. Work shows in every traced step it overlaps, cut to that step, and in no sums.
  Mark begin_beside(Lane lane, Category category, std::uint32_t name);
  void end_beside(Mark mark, double bytes);

 private:
  struct Open {
    Mark mark;
    Event event;
  };
  void count_main();
  void put(const Event& event);
  void fill_gaps(double end);
  void take_beside(double end);
  void keep_beside(bool keep);

  Trace main_{std::size_t{1} << 20}, all_{0};
  std::uint32_t idle_name_ = main_.intern("idle");
  std::int64_t step_ = 0;
  double begin_ = 0;
  bool traced_ = false;
  std::vector<Event> flat_, events_;  // of the main lane; of all, with idle time

  std::mutex mutex_;  // guards what follows
  bool keep_ = false;
  Mark next_ = 0;
  std::vector<Open> open_;
  std::vector<Event> beside_;
};

}  // namespace isobar
