// The sinks that write a run's files and show it, and what their tests need of them. Each has its own source, which
// says what it writes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "isobar/base/trace.hpp"
#include "isobar/record/run_record.hpp"
#include "isobar/record/status_line.hpp"
#include "isobar/record/surroundings.hpp"
#include "isobar/train/events.hpp"
#include "isobar/train/job.hpp"

namespace isobar::record {

// chrome_trace.cpp
/// Runs on every rank; the file is valid JSON after every step. It never exceeds `most_bytes`: if not all steps fit,
/// fewer are written, spread over the run. In a resumed run it first drops later steps.
std::unique_ptr<train::Sink> chrome_trace(std::int64_t most_bytes);

// disk_summary.cpp
/// Its turn is last, after all others have written.
std::unique_ptr<train::Sink> disk_summary();

// json_lines.cpp
/// Writes into the folder named by Start, which must exist. In a resumed run it first drops lines beyond the first
/// step. A folder that cannot be written to is an Error that names the file; a full disk is not an error.
std::unique_ptr<train::Sink> json_lines();

// metrics_csv.cpp
/// Writes into the folder named by Start, which must exist. In a resumed run it first drops rows beyond the first step.
/// Columns for test figures are added when they first occur; confusion matrices have no column.
std::unique_ptr<train::Sink> metrics_csv();

/// A field of a CSV file, quoted where necessary (RFC 4180).
std::string csv_field(const std::string& text);

// mlperf_log.cpp
/// Seconds since 1970.
double unix_seconds();

/// Writes into the folder named by Start; create it before the run is prepared, because that is when initialisation
/// begins. The clock of the run starts before data are staged; the run succeeds once an evaluation reaches the target.
/// A resumed run continues the log after its first step: the clock has not stopped. Throws UsageError if the
/// benchmark's metric is not evaluated.
std::unique_ptr<train::Sink> mlperf_log(const train::Job& job, std::function<double()> unix_time = unix_seconds);

// profile.cpp
/// The sums of a traced step, over its main lane.
ProfiledStep profile_of(const train::StepTraced& step);

/// Runs on every rank and writes in the background. In a resumed run it first drops later steps.
std::unique_ptr<train::Sink> profile();

// progress.cpp
/// Shows a run on `screen`; with `quiet` it shows nothing. `peak_flops` as in RunStatus.
std::unique_ptr<train::Sink> progress(Screen screen, bool quiet, double peak_flops = 0);

/// As above, on an open file.
std::unique_ptr<train::Sink> progress(std::FILE* out, bool quiet, double peak_flops = 0);

// run_facts.cpp
/// Writes run.json whole or not at all; a resumed run replaces it.
std::unique_ptr<train::Sink> run_facts(Surroundings surroundings);

// run_summary.cpp
/// Where the time went: one line per kind of work that happened, with its share of the time and its rates.
std::string category_table(const Trace& trace);

/// Targets and predictions as comma-separated values: sample, then `name`, `name_predicted` for each target, or for one
/// class among several `class` and `predicted`. Empty when there are no predictions, or more than max_csv_columns
/// targets, which would not make a useful table.
std::string predictions_csv(const train::End& end);
inline constexpr int max_csv_columns = 64;

/// Writes both files into the folder named by Start, when the run ends.
std::unique_ptr<train::Sink> run_summary();

// tensorboard.cpp
/// Writes steps at most five times per second of training, and all epochs; both are passed to the system immediately.
/// The folder named by Start must exist; a failed write is an Error that names the file.
std::unique_ptr<train::Sink> tensorboard(const train::ReportOptions& options);

}  // namespace isobar::record
