#include "isobar/parallel/placement.hpp"

#include <algorithm>

namespace isobar::parallel {

std::vector<Placement> place(const split::Split& split, const Strategy& strategy, int ranks) {
  const Roles roles = strategy.roles(ranks);
  const int ways = split.ways();
  std::vector<std::vector<int>> teams(std::ranges::max(roles.team) + 1);
  for (int rank = 0; rank < ranks; ++rank)
    if (roles.role[rank] == Roles::Role::trains) teams[roles.team[rank]].push_back(rank);
  std::vector<Placement> list(ranks);
  for (std::size_t t = 0; t < teams.size(); ++t) {
    const std::vector<int>& team = teams[t];
    const int size = std::ssize(team);
    if (size % ways != 0) fail_usage("{} ranks cannot be divided into replicas of {} ranks each", size, ways);
    for (int i = 0; i < size; ++i) {
      Placement& placed = list[team[i]];
      placed = {.part = i % ways,
                .share = i / ways,
                .shares = size / ways,
                .team = static_cast<int>(t),
                .teams = static_cast<int>(teams.size())};
      placed.circles.push_back({"team", team, comm::Pace::lockstep, roles.fate});
      const auto first = team.begin() + i / ways * ways;
      if (ways > 1) placed.circles.push_back({"replica", {first, first + ways}, comm::Pace::lockstep, roles.fate});
    }
  }
  for (int rank = 0; rank < ranks; ++rank) list[rank].role = roles.role[rank];
  return list;
}

}  // namespace isobar::parallel
