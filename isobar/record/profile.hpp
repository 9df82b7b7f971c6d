// profile: where the time of traced steps went on this rank, by category, as one JSON line each in
// profile/rank<r>.jsonl. The seconds of the categories, idle among them, add up to the step.
#pragma once

#include <memory>

#include "isobar/record/run_record.hpp"
#include "isobar/train/events.hpp"

namespace isobar::record {

/// The sums of a traced step, of its main lane.
ProfiledStep profile_of(const train::StepTraced& step);

/// Listens on every rank; every step is on disk when the sink has been told. Resumed, it first drops later steps.
std::unique_ptr<train::Sink> profile();

}  // namespace isobar::record
