// Group: ranks that work together, as one of them sees it: plain data, so that one process can make and check what any
// rank of any group does.
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

/// A group of some ranks of `whole`, in the given order; `whole.rank` must be among them.
Group part_of(const Group& whole, std::span<const int> ranks);

/// The ranks on this rank's node, including itself, in order: they can share memory.
std::vector<int> ranks_of_node(const Group& group);

}  // namespace isobar::comm
