#include "isobar/parallel/step_numbers.hpp"

#include <algorithm>

#include <climits>

namespace isobar::parallel {

StepNumbers::StepNumbers(comm::Comm& world, comm::Reducer& reducer, std::size_t begin,
                         std::vector<comm::Range> statistics, comm::ReducerOptions options, SumWatch& watch)
    : watch_(watch), reducer_(reducer), begin_(begin), ranges_(std::move(statistics)) {
  if (!ranges_.empty() && ranges_.back().end() == begin) ranges_.back().count += count;
  else ranges_.push_back({begin, count});
  if (options.wire == comm::Wire::float32 || world.size() == 1) return;
  options.wire = comm::Wire::float32;
  std::size_t all = 0;
  for (const comm::Range& range : ranges_) all += range.count;
  exact_ = comm::make_reducer(world, all, options);
}

// Copies between the ranges and the memory of exact_, where they lie one behind the other.
template <class Copy>
void StepNumbers::copy_ranges(Copy copy) {
  std::size_t at = 0;
  for (const comm::Range& range : ranges_) {
    copy(reducer_.memory().subspan(range.begin, range.count), exact_->memory().subspan(at, range.count));
    at += range.count;
  }
}

void StepNumbers::start(bool statistics) {
  const auto start = [&](comm::Reducer& reducer, comm::Range range) {
    under_way_.push_back(watch_.start(reducer, range, INT_MAX, watch_.numbers(), statistics ? "" : "loss"));
  };
  watch_.timed(watch_.numbers(), 0, [&] {
    if (exact_) {
      copy_ranges([](auto from, auto to) { std::ranges::copy(from, to.begin()); });
      const std::size_t all = exact_->memory().size(), some = statistics ? all : count;
      start(*exact_, {all - some, some});
    } else if (statistics) {
      for (const comm::Range& range : ranges_) start(reducer_, range);
    } else {
      start(reducer_, {begin_, count});
    }
  });
}

void StepNumbers::wait() {
  watch_.wait(watch_.numbers(), count * sizeof(float), [&] {
    for (const comm::Reducer::Sum sum : under_way_) (exact_ ? *exact_ : reducer_).wait(sum);
  });
  if (exact_) copy_ranges([](auto to, auto from) { std::ranges::copy(from, to.begin()); });
  under_way_.clear();
}

}  // namespace isobar::parallel
