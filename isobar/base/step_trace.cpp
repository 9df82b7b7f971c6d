#include "isobar/base/step_trace.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/clock.hpp"
#include "isobar/base/error.hpp"

namespace isobar {

// Adds an event after the existing ones, the last of which may lie within it: the event becomes the pieces between
// them. Its work is divided by their lengths, in whole FLOPs and bytes, so that the pieces add up to it exactly.
void StepTrace::put(const Event& event) {
  std::size_t first = flat_.size();
  double within = 0;
  while (first > 0 && flat_[first - 1].begin >= event.begin &&
         flat_[first - 1].begin + flat_[first - 1].seconds > event.begin)
    within += flat_[--first].seconds;
  if (first == flat_.size()) return flat_.push_back(event);
  const std::vector<Event> inner(flat_.begin() + first, flat_.end());
  flat_.resize(first);
  Event rest = event;
  for (const Event& other : inner) {
    Event piece = event;
    piece.begin = rest.begin;
    piece.seconds = other.begin - rest.begin;
    const double share = event.seconds > within ? std::min(1.0, piece.seconds / (event.seconds - within)) : 0;
    piece.flops = std::min(rest.flops, std::floor(event.flops * share));
    piece.bytes = std::min(rest.bytes, std::floor(event.bytes * share));
    rest.flops -= piece.flops;
    rest.bytes -= piece.bytes;
    if (piece.seconds > 0) flat_.push_back(piece);
    flat_.push_back(other);
    rest.begin = other.begin + other.seconds;
  }
  rest.seconds = std::max(0.0, event.begin + event.seconds - rest.begin);
  flat_.push_back(rest);
}

void StepTrace::count_main() {
  flat_.clear();
  for (const Event& event : main_.events()) put(event);
  for (const Event& event : flat_) all_.record(event);
  main_.clear();
}

void StepTrace::begin_step(std::int64_t step, double begin, bool traced) {
  count_main();  // there may be exchanges between steps too
  step_ = step;
  begin_ = begin;
  traced_ = traced;
  if (traced) keep_beside(true);
}

void StepTrace::drop_step() {
  count_main();
  if (traced_) keep_beside(false);
  traced_ = false;
}

std::span<const Event> StepTrace::end_step(double end) {
  count_main();
  fill_gaps(end);
  if (!traced_) return {};
  traced_ = false;
  take_beside(end);
  return events_;
}

void StepTrace::fill_gaps(double end) {
  events_.clear();
  double at = begin_;
  const auto fill = [&](double until) {
    if (until <= at) return;
    events_.push_back({Category::idle, idle_name_, step_, at, until - at, 0, 0});
    all_.record(events_.back());
    at = until;
  };
  for (Event& event : flat_) {
    fill(event.begin);
    event.step = step_;  // a strategy may be working on an earlier step
    events_.push_back(event);
    at = std::max(at, event.begin + event.seconds);
  }
  fill(end);
}

void StepTrace::keep_beside(bool keep) {
  const std::lock_guard lock(mutex_);
  keep_ = keep;
  beside_.clear();
}

StepTrace::Mark StepTrace::begin_beside(Lane lane, Category category, std::uint32_t name) {
  const double now = now_seconds();
  const std::lock_guard lock(mutex_);
  open_.push_back({next_, {category, name, 0, now, 0, 0, 0, lane}});
  return next_++;
}

void StepTrace::end_beside(Mark mark, double bytes) {
  const double now = now_seconds();
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(open_, mark, &Open::mark);
  expects(found != open_.end(), "work that has begun");
  found->event.seconds = now - found->event.begin;
  found->event.bytes = bytes;
  if (keep_) beside_.push_back(found->event);
  open_.erase(found);
}

void StepTrace::take_beside(double end) {
  const auto main = std::ssize(events_);
  const auto take = [&](Event event, double until) {
    const double begin = std::max(event.begin, begin_);
    event.step = step_;
    event.begin = begin;
    event.seconds = std::min(until, end) - begin;
    if (event.seconds > 0) events_.push_back(event);
  };
  const std::lock_guard lock(mutex_);
  for (const Event& event : beside_) take(event, event.begin + event.seconds);
  for (const Open& open : open_) take(open.event, end);
  keep_ = false;
  beside_.clear();
  std::ranges::stable_sort(events_.begin() + main, events_.end(), {}, &Event::begin);
}

}  // namespace isobar
