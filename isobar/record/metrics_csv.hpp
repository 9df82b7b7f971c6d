// metrics_csv: a run as a table for spreadsheets and data frames: metrics.csv, a row for every step (kind "step") and
// for every epoch (kind "epoch"). Columns: kind, step, epoch, loss (of the step, or the epoch's mean), learning_rate,
// samples, seconds (of the step, or of the epoch's training), wait_seconds, exchange_seconds, bytes_sent, test_seconds,
// and one for every figure of the test set, "test_loss", "test_mae". Cells without a value are empty.
#pragma once

#include <memory>
#include <string>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// Writes into the folder named by Start, which must exist. In a resumed run it first drops rows beyond the first step.
/// Columns for test figures are added when they first occur; confusion matrices have no column.
std::unique_ptr<train::Sink> metrics_csv();

/// A field of a CSV file, quoted where necessary (RFC 4180).
std::string csv_field(const std::string& text);

}  // namespace isobar::record
