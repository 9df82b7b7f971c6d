// workload_of_run: what a rank really computed: the median time of every planned kernel over the traced steps of rank
// 0, from a run's folder. The trace must be of the plan that run.json holds, kernel by kernel; runs of older programs,
// whose run.json does not say which gradients are final when, are planned anew if their network is of the zoo.
#pragma once

#include <filesystem>

#include "isobar/record/run_record.hpp"
#include "isobar/sim/workload.hpp"

namespace isobar::forecast {

/// The folder of a run, named itself or by its folder trace/; anything else is a UsageError.
std::filesystem::path run_folder(const std::filesystem::path& run_or_trace);

/// Reads a traced run. What is missing, or does not fit, is an Error that names file, kernel and both values.
sim::Workload workload_of_run(const std::filesystem::path& run_or_trace);

/// Operations a second that a rank sustained in forward, backward and updates.
double sustained_rate(const sim::Workload& workload);

/// A recorded workload on a rank with another sustained rate, in FLOP/s; `recorded` is that of the machine it was
/// recorded on, 0: sustained_rate().
sim::Workload on_another_rank(const sim::Workload& workload, double flops_per_second, double recorded = 0);

}  // namespace isobar::forecast
