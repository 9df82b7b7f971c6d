// Group: ranks that work together, and where one of them stands: plain data, so that one process can make and check
// what any rank of any group does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace isobar::comm {

struct Group {
  int rank = 0, size = 1;
  std::vector<int> nodes{};    ///< every rank's node, counted from 0 in the order of the ranks; empty: each has its own
  std::vector<int> members{};  ///< every rank's number in the world, the group of all ranks; empty: the same numbers
  std::uint32_t epoch = 0;     ///< grows when ranks die
};

/// Some ranks of a group, in the given order, as a group; the one that `whole` is seen from must be among them.
Group part_of(const Group& whole, std::span<const int> ranks);

/// The ranks on the node of this one, itself included, in order: they can share memory.
std::vector<int> ranks_of_node(const Group& group);

}  // namespace isobar::comm
