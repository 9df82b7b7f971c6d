// Crews of threads: ranks in one process that die when a test wants them to, as processes under a launcher would.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isobar/comm/crew.hpp"
#include "isobar/comm/local_roster.hpp"

namespace isobar::comm {

/// How a crew of threads has ended.
struct CrewEnd {
  std::vector<int> died{};               ///< in the order of their deaths
  std::optional<std::string> gave_up{};  ///< why the work could not continue in place: the argument of give_up()
};

/// Runs `work(crew, rank in the world)` on `ranks` + `spares` threads, of which those in `deaths` die, and returns when
/// all have ended. A rank that fails ends the world: its error is thrown as by run_ranks(). The first group has epoch
/// 1. Every `per_node` ranks, in order, count as one node.
CrewEnd run_crew(int ranks, int spares, const std::function<void(Crew&, int)>& work,
                 std::vector<PlannedDeath> deaths = {}, int per_node = 1);

}  // namespace isobar::comm
