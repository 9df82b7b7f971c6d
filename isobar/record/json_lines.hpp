// json_lines: a run as files for programs, one JSON object per line. metrics.jsonl holds only what follows from recipe
// and seed: two runs with the same seed write the same bytes, even if one was interrupted and resumed. What depends on
// the machine (seconds, rates) is in timing.jsonl. Lines are written in the background, within a tenth of a second
// unless the disk is in trouble, so that they survive if the run is killed.
#pragma once

#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// Writes into the folder named by Start, which must exist. In a resumed run it first drops lines beyond the first
/// step. A folder that cannot be written to is an Error that names the file; a full disk is not an error.
std::unique_ptr<train::Sink> json_lines();

}  // namespace isobar::record
