// The profile of a training step: time by kernel, from the trace of whole steps, so that every kernel has the numbers
// and the caches of real training. Time between kernels is counted as "idle".
#pragma once

#include <vector>

#include "isobar/bench/record.hpp"
#include "isobar/bench/training_step.hpp"

namespace isobar::bench {

/// Medians over `steps` steps, longest first. A kernel that runs several times in a step has one row with the sum.
std::vector<MeasuredKernel> profile_steps(TrainingStep& step, int steps);

/// To and from one line of JSON, for the contestants' protocol.
std::string profile_line(const std::vector<MeasuredKernel>& profile);
std::vector<MeasuredKernel> parse_profile(const std::string& line);

}  // namespace isobar::bench
