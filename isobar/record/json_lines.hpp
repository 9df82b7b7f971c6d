// json_lines: a run as files for programs, one JSON object per line. metrics.jsonl holds only what follows from recipe
// and seed: two runs of one seed write the same bytes, also when one was interrupted and resumed. What depends on the
// machine (seconds, rates) is in timing.jsonl. Lines are written in the background, within a tenth of a second unless
// the disk is in trouble: a run that is killed keeps them.
#pragma once

#include <memory>

#include "isobar/train/events.hpp"

namespace isobar::record {

/// Writes into the folder named by Start, which must exist. Resumed, it first drops lines beyond the first step. A
/// folder that cannot be written to is an Error naming the file; a disk that is full is none.
std::unique_ptr<train::Sink> json_lines();

}  // namespace isobar::record
