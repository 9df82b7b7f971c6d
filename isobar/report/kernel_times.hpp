// The times of a run's kernels, from the events of traced steps: the rows of the kernel table and the points of the
// roofline.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "isobar/record/run_record.hpp"

namespace isobar::report {

/// Sums over all events of one name on the main lane.
struct KernelTime {
  std::string name{}, category{};
  std::int64_t calls = 0;
  double seconds = 0, flops = 0, bytes = 0;
};

/// Sorted by time, longest first; idle time is left out.
std::vector<KernelTime> kernel_times(std::span<const record::TraceEvent> events);

/// The steps that the events belong to, each once, in order.
std::vector<std::int64_t> traced_steps(std::span<const record::TraceEvent> events);

}  // namespace isobar::report
