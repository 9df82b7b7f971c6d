// Trace: what happened, as timed events with FLOPs and bytes. Appended to while running, read afterwards by the
// profiler, the report, the benchmarks and the forecast.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace isobar {

/// What kind of work an event was: the rows of the kernel-category table.
enum class Category : std::uint8_t {
  forward_convolution,
  forward_pointwise,
  backward_convolution,
  backward_pointwise,
  optimizer,
  copy,
  convert,
  communication,
  input_output,
  idle,
};
inline constexpr int category_count = 10;
std::string_view category_name(Category category);

/// Where work is done: on the training thread, or beside it. Only `main` counts in totals: its events and the idle time
/// between them make up the step.
enum class Lane : std::uint8_t { main, exchange, reader };
std::string_view lane_name(Lane lane);

/// One timed piece of work; `name` indexes Trace::names().
struct Event {
  Category category;
  std::uint32_t name;
  std::int64_t step;
  double begin;  ///< seconds, on now_seconds()
  double seconds;
  double flops;
  double bytes;
  Lane lane = Lane::main;
};

/// Sums over the events of one category.
struct CategoryTotal {
  std::int64_t events = 0;
  double seconds = 0, flops = 0, bytes = 0;
};

/// This rank's events; at most `capacity` are kept individually, the totals count all of them.
class Trace {
 public:
  explicit Trace(std::size_t capacity = 1u << 16) : capacity_(capacity) {}

  /// The number to use for `name` in record(); call while planning, not while running.
  std::uint32_t intern(std::string_view name);
  void record(const Event& event);
  void clear();

  const std::vector<Event>& events() const { return events_; }
  const std::deque<std::string>& names() const { return names_; }
  const CategoryTotal& total(Category category) const { return totals_[static_cast<std::size_t>(category)]; }
  std::int64_t dropped() const { return dropped_; }

 private:
  std::size_t capacity_;
  std::vector<Event> events_;
  std::deque<std::string> names_;
  std::array<CategoryTotal, category_count> totals_{};
  std::int64_t dropped_ = 0;
};

}  // namespace isobar
