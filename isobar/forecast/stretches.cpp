#include "isobar/forecast/stretches.hpp"

#include <cmath>

#include "isobar/base/error.hpp"

namespace isobar::forecast {

namespace {

// Activations grow with the batch; moments, which are doubles, do not.
void scale_messages(ops::Talk& talk, double factor) {
  if (talk.type == ops::Talk::Type::doubles) return;
  for (comm::Round& round : talk.moves)
    for (comm::Move& move : round) {
      const auto end = static_cast<std::size_t>(std::llround(move.range.end() * factor));
      move.range.begin = static_cast<std::size_t>(std::llround(move.range.begin * factor));
      move.range.count = end - move.range.begin;
    }
}

}  // namespace

void add_kernel(std::vector<sim::Stretch>& stretches, double seconds, const std::vector<int>& final_parameters,
                const std::optional<ops::Talk>& talk) {
  if (stretches.empty() || !stretches.back().final_parameters.empty() || stretches.back().talk)
    stretches.emplace_back();
  stretches.back().seconds += seconds;
  stretches.back().final_parameters = final_parameters;
  stretches.back().talk = talk;
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
  for (auto* pass : {&other.forward, &other.backward})
    for (sim::Stretch& stretch : *pass) {
      stretch.seconds *= factor;
      if (stretch.talk) scale_messages(*stretch.talk, factor);
    }
  return other;
}

}  // namespace isobar::forecast
