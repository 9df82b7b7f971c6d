#include "isobar/forecast/failures.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"

namespace isobar::forecast {
namespace {

void check(const FailureCase& c, double interval) {
  if (!(c.work_seconds > 0)) fail_usage("failures: {} s of work; it must be more than 0", c.work_seconds);
  if (c.between_seconds < 0 || c.checkpoint_seconds < 0 || c.restart_seconds < 0)
    fail_usage("failures: negative times ({} s between failures, {} s for a checkpoint, {} s for a restart)",
               c.between_seconds, c.checkpoint_seconds, c.restart_seconds);
  if (!(interval > 0)) fail_usage("failures: a checkpoint every {} s; it must be more than 0", interval);
}

}  // namespace

double best_interval(const FailureCase& c) {
  check(c, 1);
  const double m = c.between_seconds, d = c.checkpoint_seconds;
  if (m <= 0 || d <= 0) return c.work_seconds;
  if (d >= 2 * m) return std::min(m, c.work_seconds);
  const double ratio = d / (2 * m);
  return std::min(std::sqrt(2 * d * m) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - d, c.work_seconds);
}

// One part of the work with its checkpoint, L seconds, takes m (e^(L/m) - 1) e^(R/m) seconds on average: the first
// attempt may fail, and every further one begins with a restart, which may fail too.
double expected_seconds(const FailureCase& c, double interval) {
  check(c, interval);
  const double parts = c.work_seconds / std::min(interval, c.work_seconds);
  const double length = std::min(interval, c.work_seconds) + c.checkpoint_seconds;
  if (c.between_seconds <= 0) return parts * length;
  const double m = c.between_seconds;
  return parts * m * std::expm1(length / m) * std::exp(c.restart_seconds / m);
}

FailureCase failure_case(const sim::Platform& platform, const sim::Workload& workload, int nodes, double hours,
                         int optimizer_slots) {
  const double weights = workload.gradient_numbers() * sizeof(float);
  const double client = platform.file_system.client_bytes_per_second > 0 ? platform.file_system.client_bytes_per_second
                                                                         : platform.file_system.bytes_per_second;
  return {.work_seconds = hours * 3600,
          .between_seconds = platform.failures.node_hours > 0 ? platform.failures.node_hours * 3600 / nodes : 0,
          .checkpoint_seconds = client > 0 ? weights * (1 + optimizer_slots) / client : 0,
          .restart_seconds = platform.failures.restart_seconds};
}

}  // namespace isobar::forecast
