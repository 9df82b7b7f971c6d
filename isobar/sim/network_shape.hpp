// The shape of a network: how many nodes it holds, and whether SimGrid can build and route it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "isobar/sim/platform.hpp"

namespace isobar::sim {

/// "fat_tree", as platform files write it.
std::string_view kind_name(NetworkModel::Kind kind);

/// Nodes the shape has places for; the most a platform may have where the shape says nothing.
std::int64_t places(const NetworkModel& network);

/// What is wrong with the shape: key, value and what would be valid. Nothing when it can be built for so many nodes.
std::string shape_problem(const NetworkModel& network, std::int64_t nodes);

}  // namespace isobar::sim
