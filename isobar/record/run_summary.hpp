// run_summary: a run summarized in text files: report.txt (what was run, how well it did, where the time went) and
// predictions.csv (every held-out sample).
#pragma once

#include <memory>
#include <string>

#include "isobar/base/trace.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// Where the time went: one line per kind of work that happened, with its share of the time and its rates.
std::string category_table(const Trace& trace);

/// Targets and predictions as comma-separated values: sample, then `name`, `name_predicted` for each target, or for one
/// class among several `class` and `predicted`. Empty when there are no predictions, or more than max_csv_columns
/// targets, which would not make a useful table.
std::string predictions_csv(const train::End& end);
inline constexpr int max_csv_columns = 64;

/// Writes both files into the folder named by Start, when the run ends.
std::unique_ptr<train::Sink> run_summary();

}  // namespace isobar::record
