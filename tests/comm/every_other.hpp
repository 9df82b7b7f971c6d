// Half of the ranks of a group, for groups within groups.
#pragma once

#include <vector>

#include "isobar/comm/group.hpp"

namespace isobar::tests {

/// The ranks with the same parity as this one, in order.
inline std::vector<int> every_other(const comm::Group& group) {
  std::vector<int> ranks;
  for (int rank = group.rank % 2; rank < group.size; rank += 2) ranks.push_back(rank);
  return ranks;
}

}  // namespace isobar::tests
