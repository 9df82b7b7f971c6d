// The times of the messages of the model, from the events of traced steps: how long those of each node were
// under way, and how long the rank waited for them.
#pragma once

#include <span>

#include "isobar/record/run_record.hpp"

namespace isobar::report {

/// Sums over all traced steps; its own `sent` is of one pass.
struct MessageTime {
  record::PlannedMessages planned{};
  double bytes = 0, under_way_seconds = 0, waited_seconds = 0;
};

/// Sorted by the time waited, longest first; those that were not traced have no times.
std::vector<MessageTime> message_times(const record::RunRecord& run, std::span<const record::TraceEvent> events);

}  // namespace isobar::report
