// The automatic choice across several nodes: every candidate is timed for some lengths, and the slowest rank counts.
#pragma once

#include "isobar/comm/background_reducer.hpp"
#include "isobar/comm/choice.hpp"

namespace isobar::comm {

/// Makes `reducer` use the best candidate for every length: as the file remembers, or else as measured now, in about
/// two seconds. Ranks without a carrier measure only if a file is named; otherwise the first candidate takes short sums
/// and the second the rest. The same holds after a rank has died, because the work waits. All ranks must call.
void choose_routes(Comm& comm, BackgroundReducer& reducer, std::vector<std::unique_ptr<Route>> candidates,
                   const ReducerOptions& options);

}  // namespace isobar::comm
