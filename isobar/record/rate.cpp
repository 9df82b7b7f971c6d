#include "isobar/record/rate.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::record {
namespace {

constexpr double memory_seconds = 10;

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

}  // namespace

void Rate::add(std::int64_t samples, double seconds, double wait_seconds, double exchange_seconds) {
  const double kept = std::exp(-std::max(0.0, seconds) / memory_seconds);
  steps_ = kept * steps_ + 1;
  samples_ = kept * samples_ + static_cast<double>(samples);
  seconds_ = kept * seconds_ + seconds;
  wait_seconds_ = kept * wait_seconds_ + wait_seconds;
  exchange_seconds_ = kept * exchange_seconds_ + exchange_seconds;
}

double Rate::samples_per_second() const { return ratio(samples_, seconds_); }
double Rate::seconds_per_step() const { return ratio(seconds_, steps_); }
double Rate::waiting() const { return std::clamp(ratio(wait_seconds_, seconds_), 0.0, 1.0); }
double Rate::exchanging() const { return std::clamp(ratio(exchange_seconds_, seconds_), 0.0, 1.0); }

}  // namespace isobar::record
