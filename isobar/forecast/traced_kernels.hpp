// TracedKernels: the events of traced steps, matched one by one with the kernels of a plan.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::forecast {

/// Medians over the traced steps, in seconds.
struct TracedKernels {
  std::int64_t steps = 0;
  std::int64_t passes = 1;        ///< micro-batches per step
  std::vector<double> seconds{};  ///< of every kernel of the plan, in the last pass; 0 for kernels without work
  double earlier_passes = 0;      ///< all passes but the last, including the addition of their gradients
  std::map<std::string, double> updates{};  ///< by parameter
};

/// Matches the events of one rank's main lane, in order. `origin` names the file in errors: no steps, incomplete steps,
/// or kernels that are not in the plan.
TracedKernels match_kernels(std::span<const record::PlannedStep> plan, std::span<const record::TraceEvent> events,
                            const std::string& origin);

}  // namespace isobar::forecast
