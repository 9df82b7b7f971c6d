// json_lines: a run as files for programs, one JSON object per line. metrics.jsonl holds only what follows from recipe
// and seed: two runs of one seed write the same bytes, also when one was interrupted and resumed. What depends on the
// machine (seconds, rates) is in timing.jsonl. Lines reach the system within about a second: a run that is killed keeps
// them.
#pragma once

#include <functional>
#include <memory>

#include "isobar/base/clock.hpp"
#include "isobar/train/events.hpp"

namespace isobar::report {

/// Writes into the folder named by Start, which must exist. Resumed, it first drops lines beyond the first step. What
/// cannot be written is an Error naming the file. `clock` gives seconds.
std::unique_ptr<train::Sink> json_lines(std::function<double()> clock = now_seconds);

}  // namespace isobar::report
