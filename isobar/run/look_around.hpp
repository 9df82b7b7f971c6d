// Collects the surroundings for the record of a run: the command, versions, the machine, and its peaks.
#pragma once

#include "isobar/comm/comm.hpp"
#include "isobar/record/surroundings.hpp"

namespace isobar::run {

/// Collects the surroundings; ranks compute with `threads` each. Unknown peaks are measured, which takes a moment. Rank
/// 0 gets everything, the others only the peaks. All ranks must call.
record::Surroundings look_around(comm::Comm& world, int threads);

/// A command line for a shell: words with special characters are quoted.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace isobar::run
