#include "isobar/parallel/sum_watch.hpp"

#include "isobar/post_mortem/flight_recorder.hpp"

namespace isobar::parallel {

SumWatch::SumWatch(comm::Comm& world, StepTrace* trace, int buckets)
    : world_(world), trace_(world.size() > 1 ? trace : nullptr) {
  for (int b = 0; b < buckets; ++b) names_.push_back(fmt::format("gradients {} of {}", b + 1, buckets));
  names_.emplace_back("loss and statistics");
  if (!trace_) return;
  for (const std::string& name : names_) in_trace_.push_back(trace_->main().intern(name));
}

void SumWatch::begin(std::int64_t step) {
  step_ = step;
  say("computing");
}

comm::Reducer::Sum SumWatch::start(comm::Reducer& reducer, comm::SumRequest request, int which) {
  const auto at = static_cast<std::size_t>(which);
  request.what = fmt::format("{} of step {}", request.what.empty() ? names_[at] : request.what, step_);
  if (world_.size() > 1) {
    const post_mortem::FlightRecorder::Sum sum = post_mortem::flight_recorder().begin_sum(request.what);
    if (trace_) {
      const StepTrace::Mark mark = trace_->begin_beside(Lane::exchange, Category::communication, in_trace_[at]);
      const auto bytes = static_cast<double>(request.range.count * sizeof(float));
      request.ended = [sum, trace = trace_, mark, bytes] {
        post_mortem::flight_recorder().end_sum(sum);
        trace->end_beside(mark, bytes);
      };
    } else {
      request.ended = [sum] { post_mortem::flight_recorder().end_sum(sum); };
    }
  }
  return reducer.start(std::move(request));
}

}  // namespace isobar::parallel
