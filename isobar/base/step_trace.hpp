// StepTrace: a trace cut into training steps, and what went on beside them on other threads. Of every step the times
// are added up, idle time included; of steps that are traced all events are handed out, so that what a run keeps in
// memory does not grow with its length.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "isobar/base/trace.hpp"

namespace isobar {

class StepTrace {
 public:
  /// Work beside the thread that trains, from its beginning to its end.
  using Mark = std::int64_t;

  /// Where the thread that trains records its work. One event may lie within another: it is then cut out of it.
  Trace& main() { return main_; }
  /// Sums over the whole run.
  const Trace& all() const { return all_; }

  /// A step began, at `begin` on now_seconds().
  void begin_step(std::int64_t step, double begin, bool traced);
  /// The step is over. Returns its events if it is traced, valid until the next call: those of the main lane one after
  /// the other, idle time between them, then those beside it in the order they began.
  std::span<const Event> end_step(double end);
  /// There is no step, or there was none after all: what was recorded since the last one is only added up.
  void drop_step();

  /// From any thread. Work shows in every traced step it reaches into, as far as it lies in it, and in no sums.
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
