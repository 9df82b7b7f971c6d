// The automatic choice among several nodes: every candidate sums some lengths, and the slowest rank counts.
#pragma once

#include "isobar/comm/background_reducer.hpp"
#include "isobar/comm/choice.hpp"

namespace isobar::comm {

/// Makes `reducer` use what suits every length best: what the file remembers, or else what is measured now, within
/// about two seconds. Among ranks without a carrier only a named file makes it measure; otherwise the first candidate
/// takes what is short, the second the rest; so too among ranks that have lost one, whose work waits. All ranks must
/// call.
void choose_routes(Comm& comm, BackgroundReducer& reducer, std::vector<std::unique_ptr<Route>> candidates,
                   const ReducerOptions& options);

}  // namespace isobar::comm
