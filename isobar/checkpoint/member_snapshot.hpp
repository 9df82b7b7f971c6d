// The weights of one rank in a checkpoint whose ranks each have a model of their own.
#pragma once

#include <string_view>

#include "isobar/checkpoint/snapshot.hpp"

namespace isobar::checkpoint {

/// How many ranks' weights a block of this name holds; 0 if there is none.
int members_of(const Snapshot& snapshot, std::string_view block);

/// A snapshot with the weights of rank `member` instead of those of the first, and nothing beside them.
Snapshot member_snapshot(const Snapshot& snapshot, std::string_view block, int member);

}  // namespace isobar::checkpoint
