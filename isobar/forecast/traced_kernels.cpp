#include "isobar/forecast/traced_kernels.hpp"

#include <numeric>
#include <set>

#include "isobar/base/error.hpp"
#include "isobar/record/median.hpp"

namespace isobar::forecast {
namespace {

constexpr std::string_view update_suffix = " update", sum_of_passes = "sum of micro-batches";

std::string event_name(const record::PlannedStep& step) { return step.name + " " + step.kernel; }

// A kernel without work leaves no event.
bool leaves_event(const record::PlannedStep& step) { return step.flops > 0 || step.bytes > 0; }

bool is_kernel(const record::TraceEvent& event, const std::set<std::string>& planned) {
  if (event.lane != Lane::main) return false;
  if (planned.contains(event.name)) return true;
  for (const Category category : {Category::forward_convolution, Category::forward_pointwise,
                                  Category::backward_convolution, Category::backward_pointwise, Category::convert})
    if (event.category == category_name(category)) return true;
  return false;
}

// One traced step: every pass goes through the plan once.
struct TracedStep {
  std::vector<std::vector<double>> passes{};
  double sums = 0;
  std::map<std::string, double> updates{};
};

class Matching {
 public:
  Matching(std::span<const record::PlannedStep> plan, std::string origin) : plan_(plan), origin_(std::move(origin)) {
    for (const record::PlannedStep& step : plan) planned_.insert(event_name(step));
  }

  void add(const record::TraceEvent& event) {
    if (event.lane != Lane::main) return;
    if (is_kernel(event, planned_)) return kernel(event);
    if (event.name == sum_of_passes) now_.sums += event.seconds;
    if (event.category == category_name(Category::optimizer) && event.name.ends_with(update_suffix))
      now_.updates[event.name.substr(0, event.name.size() - update_suffix.size())] += event.seconds;
  }

  TracedStep take(std::int64_t step) {
    if (now_.passes.empty())
      fail("{}: step {} has no kernel at all; the plan in run.json begins with '{}'", origin_, step,
           plan_.empty() ? "" : event_name(plan_[0]));
    if (const std::size_t next = next_from(at_); next < plan_.size())
      fail("{}: step {} ends before kernel {} of the plan in run.json, '{}': the trace was cut off", origin_, step,
           next + 1, event_name(plan_[next]));
    at_ = plan_.size();
    return std::exchange(now_, {});
  }

 private:
  std::size_t next_from(std::size_t place) const {
    while (place < plan_.size() && !leaves_event(plan_[place])) ++place;
    return place;
  }

  void kernel(const record::TraceEvent& event) {
    std::size_t next = next_from(at_);
    if (next == plan_.size() && (now_.passes.empty() || !is_piece(event))) {
      now_.passes.emplace_back(plan_.size());
      next = next_from(0);
    }
    if (next < plan_.size() && event_name(plan_[next]) == event.name) {
      now_.passes.back()[next] += event.seconds;
      last_ = next;
      at_ = next + 1;
    } else if (is_piece(event)) {
      now_.passes.back()[last_] += event.seconds;
    } else {
      fail(
          "{}: step {} comes from another plan: its kernel is '{}' where the plan in run.json has '{}' (kernel {} of "
          "{})",
          origin_, event.step, event.name, next < plan_.size() ? event_name(plan_[next]) : "no further kernel",
          next + 1, plan_.size());
    }
  }

  // If a kernel waits for other ranks, its event is split into several.
  bool is_piece(const record::TraceEvent& event) const {
    return !now_.passes.empty() && at_ > 0 && event_name(plan_[last_]) == event.name;
  }

  std::span<const record::PlannedStep> plan_;
  std::string origin_;
  std::set<std::string> planned_{};
  TracedStep now_{};
  std::size_t at_ = plan_.size(), last_ = 0;
};

TracedKernels medians(const std::vector<TracedStep>& steps, std::size_t kernels, const std::string& origin) {
  TracedKernels result;
  result.steps = std::ssize(steps);
  result.passes = std::ssize(steps[0].passes);
  std::vector<std::vector<double>> by_kernel(kernels);
  std::vector<double> earlier;
  std::map<std::string, std::vector<double>> updates;
  for (const TracedStep& step : steps) {
    if (std::ssize(step.passes) != result.passes)
      fail("{}: one traced step runs the plan {} times, another {} times: ranks had uneven shares", origin,
           result.passes, step.passes.size());
    for (std::size_t k = 0; k < kernels; ++k) by_kernel[k].push_back(step.passes.back()[k]);
    double before = step.sums;
    for (const auto& pass : std::span(step.passes).first(step.passes.size() - 1))
      before += std::accumulate(pass.begin(), pass.end(), 0.0);
    earlier.push_back(before);
    for (const auto& [name, seconds] : step.updates) updates[name].push_back(seconds);
  }
  for (std::vector<double>& seconds : by_kernel) result.seconds.push_back(record::median(std::move(seconds)));
  result.earlier_passes = record::median(std::move(earlier));
  for (auto& [name, seconds] : updates) result.updates[name] = record::median(std::move(seconds));
  return result;
}

}  // namespace

TracedKernels match_kernels(std::span<const record::PlannedStep> plan, std::span<const record::TraceEvent> events,
                            const std::string& origin) {
  std::vector<TracedStep> steps;
  Matching matching(plan, origin);
  for (std::size_t i = 0; i < events.size(); ++i) {
    matching.add(events[i]);
    if (i + 1 == events.size() || events[i + 1].step != events[i].step) steps.push_back(matching.take(events[i].step));
  }
  if (steps.empty()) fail("{}: no step was traced; [report] trace_steps in the recipe sets how many are", origin);
  return medians(steps, plan.size(), origin);
}

}  // namespace isobar::forecast
