// Runs a verb on all ranks that a launcher started: they join before it and leave after it, and a failing rank prints
// one message.
#pragma once

#include <functional>
#include <string>

#include "isobar/comm_mpi/world.hpp"

namespace isobar::cli {

/// Runs `work` on this rank and all others, or without a launcher in this process alone. A rank that fails prints
/// "[rank n] message" and ends all ranks, with the same exit codes as a program that runs alone.
void on_all_ranks(const std::function<void(comm_mpi::World&)>& work);

}  // namespace isobar::cli
