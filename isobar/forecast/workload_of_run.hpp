// workload_of_run: what a rank actually computed: the median time of every planned kernel over the traced steps of rank
// 0, from a run's folder. The trace must match the plan in run.json, kernel by kernel. Runs of older versions, whose
// run.json does not say when gradients are final, are planned again if their network is in the zoo.
#pragma once

#include <filesystem>

#include "isobar/record/run_record.hpp"
#include "isobar/sim/workload.hpp"

namespace isobar::forecast {

/// The folder of a run, given itself or its subfolder trace/; throws UsageError for anything else.
std::filesystem::path run_folder(const std::filesystem::path& run_or_trace);

/// Reads a traced run. Throws Error that names file, kernel and both values if something is missing or does not fit.
sim::Workload workload_of_run(const std::filesystem::path& run_or_trace);

/// Operations per second that a rank sustained in forward, backward and updates.
double sustained_rate(const sim::Workload& workload);

/// A recorded workload on a rank with another sustained rate, in FLOP/s; `recorded` is the rate of the machine it was
/// recorded on, 0: sustained_rate().
sim::Workload on_another_rank(const sim::Workload& workload, double flops_per_second, double recorded = 0);

}  // namespace isobar::forecast
