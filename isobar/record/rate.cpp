#include "isobar/record/rate.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::record {
namespace {

constexpr double memory_seconds = 10;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

void Rate::add(const train::StepDone& step) {
  const double kept = std::exp(-std::max(0.0, step.seconds) / memory_seconds);
  const auto fade = [&](double& sum, double more) { sum = kept * sum + more; };
  fade(steps_, 1);
  fade(samples_, static_cast<double>(step.samples));
  fade(seconds_, step.seconds);
  fade(wait_seconds_, step.wait_seconds);
  fade(exchange_seconds_, step.exchange_seconds);
  fade(message_seconds_, step.costs.messages.waited_seconds);
  fade(messages_busy_, step.costs.messages.busy_seconds);
}

double Rate::samples_per_second() const { return ratio(samples_, seconds_); }
double Rate::seconds_per_step() const { return ratio(seconds_, steps_); }
double Rate::waiting() const { return std::clamp(ratio(wait_seconds_, seconds_), 0.0, 1.0); }
double Rate::exchanging() const { return std::clamp(ratio(exchange_seconds_, seconds_), 0.0, 1.0); }
double Rate::exchanging_messages() const { return std::clamp(ratio(message_seconds_, seconds_), 0.0, 1.0); }
std::optional<double> Rate::hidden_messages() const { return comm::hidden_share(message_seconds_, messages_busy_); }

}  // namespace isobar::record
