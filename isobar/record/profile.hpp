// profile: where the time of traced steps went on this rank, by category, as one JSON line each in
// profile/rank<r>.jsonl. The seconds of the categories, including idle, add up to the step.
#pragma once

#include <memory>

#include "isobar/record/run_record.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// The sums of a traced step, over its main lane.
ProfiledStep profile_of(const train::StepTraced& step);

/// Runs on every rank and writes in the background. In a resumed run it first drops later steps.
std::unique_ptr<train::Sink> profile();

}  // namespace isobar::record
