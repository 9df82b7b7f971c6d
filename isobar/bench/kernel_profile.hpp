// The profile of a training step: time by kernel, from the trace of whole steps, so that every kernel meets the numbers
// and the caches it meets in training. What lies between kernels is counted as "idle".
#pragma once

#include <vector>

#include "isobar/bench/record.hpp"
#include "isobar/bench/training_step.hpp"

namespace isobar::bench {

/// Medians over so many steps, the longest first. A kernel that runs several times in a step is counted once, with the
/// sum.
std::vector<MeasuredKernel> profile_steps(TrainingStep& step, int steps);

/// One line of JSON, as the contestants' protocol has it, and back.
std::string profile_line(const std::vector<MeasuredKernel>& profile);
std::vector<MeasuredKernel> parse_profile(const std::string& line);

}  // namespace isobar::bench
