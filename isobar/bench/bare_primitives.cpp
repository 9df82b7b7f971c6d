#include "isobar/bench/bare_primitives.hpp"

#include <algorithm>

#include "isobar/base/clock.hpp"
#include "isobar/bench/summary.hpp"

namespace isobar::bench {

// Every value has its own memory, so that a primitive reads the same numbers as in a whole step: leftover numbers may
// be denormal, which makes it ten times slower.
BarePrimitives::BarePrimitives(const Spec& model, std::int64_t batch, const machine::Peaks& peaks)
    : peaks_(peaks),
      step_(model, batch, steady_optimizer, {.share_memory = false, .in_place = false, .own_kernels = false}),
      times_(step_.executor().plan().steps.size()) {
  step_.run();
}

double BarePrimitives::run() {
  double sum = 0;
  const graph::Plan& plan = step_.executor().plan();
  for (const graph::StepId s : plan.steps.ids()) {
    if (!plan.steps[s].library) continue;
    step_.executor().run_alone(s, step_.moment());
    const double begin = now_seconds();
    step_.executor().run_alone(s, step_.moment());
    times_[s].push_back(now_seconds() - begin);
    sum += times_[s].back();
  }
  return sum;
}

double BarePrimitives::seconds() const {
  const graph::Plan& plan = step_.executor().plan();
  // Momentum: weight and velocity are read and written, the gradient is read.
  double sum = 5.0 * sizeof(float) * plan.parameter_count() / peaks_.bytes_per_second;
  for (const graph::StepId s : plan.steps.ids())
    sum += plan.steps[s].library
               ? summarize(times_[s]).median
               : std::max(plan.steps[s].bytes / peaks_.bytes_per_second, plan.steps[s].flops / peaks_.flops_per_second);
  return sum;
}

}  // namespace isobar::bench
