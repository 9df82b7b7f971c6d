// Looks around for the record of a run: the command, versions, the machine, and the peaks to compare it with.
#pragma once

#include "isobar/comm/comm.hpp"
#include "isobar/record/surroundings.hpp"

namespace isobar::run {

/// Looks around; ranks compute with `threads` each. Peaks that are not known yet are measured, which takes a moment.
/// Rank 0 gets all of it, the others only the peaks. All ranks must call.
record::Surroundings look_around(comm::Comm& world, int threads);

/// A command line as a shell would take it: words with other than harmless characters are quoted.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace isobar::run
