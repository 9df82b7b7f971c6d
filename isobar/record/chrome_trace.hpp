// chrome_trace: traced steps for the trace viewers people use (Perfetto, chrome://tracing): trace/rank<r>.json, a JSON
// array with one event per line. trace_row.hpp says which row of a rank has what.
#pragma once

#include <cstdint>
#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// Listens on every rank; the file is valid JSON after every step. It never grows above `most_bytes`: when steps are
/// too large for all of them, fewer are written, spread over the run. Resumed, it first drops later steps.
std::unique_ptr<train::Sink> chrome_trace(std::int64_t most_bytes);

}  // namespace isobar::record
