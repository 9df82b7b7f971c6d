// mlperf_log: a run in the log format of MLPerf HPC: mlperf.log, lines of ":::MLLOG" and a JSON object with namespace,
// time_ms, event_type, key, value and metadata, in order of time. CosmoFlow and DeepCAM have all keys that their rules
// require, other networks only the common keys. This program does not clear caches, and the log says so.
#pragma once

#include <functional>
#include <memory>

#include "isobar/train/events.hpp"
#include "isobar/train/job.hpp"

namespace isobar::record {

/// Seconds since 1970.
double unix_seconds();

/// Writes into the folder named by Start; create it before the run is prepared, because that is when initialisation
/// begins. The clock of the run starts before data are staged; the run succeeds once an evaluation reaches the target.
/// A resumed run continues the log after its first step: the clock has not stopped. Throws UsageError if the
/// benchmark's metric is not evaluated.
std::unique_ptr<train::Sink> mlperf_log(const train::Job& job, std::function<double()> unix_time = unix_seconds);

}  // namespace isobar::record
