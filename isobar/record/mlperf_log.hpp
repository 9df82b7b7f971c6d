// mlperf_log: a run as MLPerf HPC wants it told: mlperf.log, lines of ":::MLLOG" and a JSON object with namespace,
// time_ms, event_type, key, value and metadata, in the order of time. CosmoFlow and DeepCAM have all keys their rules
// ask for, other networks those that all have. Caches are not cleared by this program, and the log says so.
#pragma once

#include <functional>
#include <memory>

#include "isobar/train/events.hpp"
#include "isobar/train/job.hpp"

namespace isobar::record {

/// Seconds since 1970.
double unix_seconds();

/// Writes into the folder named by Start; made before the run is prepared, for that is when initialisation begins. The
/// run starts, for its clock, before data are staged, and it has succeeded once an evaluation has reached the target.
/// Resumed, it goes on behind the first step: the clock has not stopped. A UsageError when the benchmark's metric is
/// not evaluated.
std::unique_ptr<train::Sink> mlperf_log(const train::Job& job, std::function<double()> unix_time = unix_seconds);

}  // namespace isobar::record
