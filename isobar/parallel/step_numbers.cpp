#include "isobar/parallel/step_numbers.hpp"

#include <climits>

namespace isobar::parallel {

StepNumbers::StepNumbers(comm::Reducer& reducer, std::size_t begin, std::vector<comm::Range> statistics,
                         SumWatch& watch)
    : watch_(watch), reducer_(reducer), begin_(begin), ranges_(std::move(statistics)) {
  if (!ranges_.empty() && ranges_.back().end() == begin) ranges_.back().count += count;
  else ranges_.push_back({begin, count});
}

void StepNumbers::start(bool statistics) {
  const auto start = [&](comm::Range range) {
    const comm::SumRequest request{
        .range = range, .priority = INT_MAX, .what = statistics ? "" : "loss", .exact = true};
    under_way_.push_back(watch_.start(reducer_, request, watch_.numbers()));
  };
  watch_.timed(watch_.numbers(), 0, [&] {
    if (!statistics) return start({begin_, count});
    for (const comm::Range& range : ranges_) start(range);
  });
}

void StepNumbers::wait() {
  watch_.wait(watch_.numbers(), count * sizeof(float), [&] {
    for (const comm::Reducer::Sum sum : under_way_) reducer_.wait(sum);
  });
  under_way_.clear();
}

}  // namespace isobar::parallel
