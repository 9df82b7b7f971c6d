#include "isobar/parallel/placement.hpp"

#include <algorithm>
#include <numeric>

#include "isobar/parallel/served_parts.hpp"

namespace isobar::parallel {

void tell_layers(Strategy& strategy, std::span<const std::string> trained) {
  std::vector<std::string> layers;
  for (const std::string& name : trained)
    if (std::string layer = layer_of(name); std::ranges::find(layers, layer) == layers.end())
      layers.push_back(std::move(layer));
  strategy.expect_layers(layers);
}

void tell_layers(Strategy& strategy, const graph::Graph& graph) {
  std::vector<std::string> trained;
  for (const graph::GraphValue& value : graph.values())
    if (value.role == graph::GraphValue::Role::parameter && value.parameter.trained) trained.push_back(value.name);
  tell_layers(strategy, trained);
}

std::vector<Placement> place(const split::Split& split, const Strategy& strategy, int ranks) {
  return place(split.ways(), strategy, ranks);
}

std::vector<Placement> place(int ways, const Strategy& strategy, int ranks) {
  if (ways > 1 && strategy.traits().whole_models)
    fail_usage(
        "parallel.split cuts a model over {} ranks, but with this strategy every rank trains a whole model; "
        "valid: split = \"none\", or another strategy, such as sync",
        ways);
  const Roles roles = strategy.roles(ranks);
  std::vector<std::vector<int>> teams(std::ranges::max(roles.team) + 1);
  for (int rank = 0; rank < ranks; ++rank)
    if (roles.role[rank] == Roles::Role::trains) teams[roles.team[rank]].push_back(rank);
  // Where teams wait for each other, or a team for its members, all miss a rank that dies.
  const bool alone = std::ranges::all_of(teams, [](const std::vector<int>& team) { return team.size() == 1; });
  const comm::Fate fate = roles.pace == comm::Pace::lockstep || !alone ? comm::Fate::world : comm::Fate::peer;
  std::vector<Placement> list(ranks);
  int replicas = 0;
  for (std::size_t t = 0; t < teams.size(); ++t) {
    const std::vector<int>& team = teams[t];
    const int size = std::ssize(team);
    if (size % ways != 0)
      fail_usage("{} rank{} cannot be divided into replicas of {} ranks each; valid: {}, {}, {}, ...", size,
                 size == 1 ? "" : "s", ways, ways, 2 * ways, 3 * ways);
    for (int i = 0; i < size; ++i) {
      Placement& placed = list[team[i]];
      placed = {.part = i % ways,
                .share = replicas + i / ways,
                .team = static_cast<int>(t),
                .teams = static_cast<int>(teams.size())};
      placed.circles.push_back({"team", team, comm::Pace::lockstep, fate});
      const auto first = team.begin() + i / ways * ways;
      if (ways > 1) placed.circles.push_back({"replica", {first, first + ways}, comm::Pace::lockstep, fate});
    }
    replicas += size / ways;
  }
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  const bool serves = std::ranges::count(roles.role, Roles::Role::serves) > 0;
  for (int rank = 0; rank < ranks; ++rank) {
    list[rank].role = roles.role[rank];
    list[rank].shares = replicas;
    list[rank].teams = static_cast<int>(teams.size());
    if (serves || teams.size() > 1) list[rank].circles.push_back({serves ? "servers" : "peers", all, roles.pace, fate});
  }
  return list;
}

}  // namespace isobar::parallel
