// chrome_trace: traced steps for the trace viewers people use (Perfetto, chrome://tracing): trace/rank<r>.json, a JSON
// array with one event per line. trace_row.hpp defines the rows of a rank.
#pragma once

#include <cstdint>
#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// Runs on every rank; the file is valid JSON after every step. It never exceeds `most_bytes`: if not all steps fit,
/// fewer are written, spread over the run. In a resumed run it first drops later steps.
std::unique_ptr<train::Sink> chrome_trace(std::int64_t most_bytes);

}  // namespace isobar::record
