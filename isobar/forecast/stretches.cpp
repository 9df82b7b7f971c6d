#include "isobar/forecast/stretches.hpp"

#include <cmath>

#include "isobar/base/error.hpp"

namespace isobar::forecast {

void add_kernel(std::vector<sim::Stretch>& stretches, double seconds, const std::vector<int>& final_parameters) {
  if (stretches.empty() || !stretches.back().final_parameters.empty()) stretches.emplace_back();
  stretches.back().seconds += seconds;
  stretches.back().final_parameters = final_parameters;
}

std::size_t gradient_room(std::int64_t numbers) {
  constexpr std::size_t line = 64 / sizeof(float);
  return (numbers + line - 1) / line * line;
}

sim::Workload with_batch(const sim::Workload& workload, double batch) {
  expects(batch > 0 && workload.batch > 0, "a batch");
  const double factor = batch / workload.batch;
  sim::Workload other = workload;
  // A rank may have one sample more than another: times are for the mean, but loaders read whole samples.
  other.batch = std::llround(std::ceil(batch));
  other.sample_bytes = workload.sample_bytes * batch / other.batch;
  other.flops *= factor;
  for (sim::Stretch& stretch : other.forward) stretch.seconds *= factor;
  for (sim::Stretch& stretch : other.backward) stretch.seconds *= factor;
  return other;
}

}  // namespace isobar::forecast
