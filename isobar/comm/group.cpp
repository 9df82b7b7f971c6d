#include "isobar/comm/group.hpp"

#include <algorithm>
#include <map>

#include "isobar/base/error.hpp"

namespace isobar::comm {

Group part_of(const Group& whole, std::span<const int> ranks) {
  const auto self = std::ranges::find(ranks, whole.rank);
  expects(self != ranks.end(), "a group with this rank in it");
  Group part{
      .rank = static_cast<int>(self - ranks.begin()), .size = static_cast<int>(ranks.size()), .epoch = whole.epoch};
  std::map<int, int> numbers;  // of a node in the whole -> in the part
  for (const int rank : ranks) {
    expects(rank >= 0 && rank < whole.size, "ranks of the group");
    const auto place = static_cast<std::size_t>(rank);
    part.members.push_back(whole.members.empty() ? rank : whole.members[place]);
    const int node = whole.nodes.empty() ? rank : whole.nodes[place];
    part.nodes.push_back(numbers.try_emplace(node, static_cast<int>(numbers.size())).first->second);
  }
  return part;
}

std::vector<int> ranks_of_node(const Group& group) {
  if (group.nodes.empty()) return {group.rank};
  std::vector<int> ranks;
  for (int rank = 0; rank < group.size; ++rank)
    if (group.nodes[static_cast<std::size_t>(rank)] == group.nodes[static_cast<std::size_t>(group.rank)])
      ranks.push_back(rank);
  return ranks;
}

}  // namespace isobar::comm
