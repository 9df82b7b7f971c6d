// A verb on all ranks that a launcher started: joined before, left after, one message when one of them fails.
#pragma once

#include <functional>
#include <string>

#include "isobar/comm_mpi/world.hpp"

namespace isobar::cli {

/// Runs `work` on this rank and all others; without a launcher on this process alone. What fails on one rank is shown
/// by that rank, as "[rank n] message", and ends all of them with the same exit codes as a program that runs alone.
void on_all_ranks(const std::function<void(comm_mpi::World&)>& work);

}  // namespace isobar::cli
