// Placement: what a rank is in a run: its role, its part of the network and of the samples, and the circles it talks
// in. Made from split and strategy as plain data, before there are plans, memory or messages.
#pragma once

#include "isobar/parallel/strategy.hpp"
#include "isobar/split/split.hpp"

namespace isobar::parallel {

struct Placement {
  Roles::Role role = Roles::Role::trains;
  int part = 0;               ///< of the network, as the split numbers them
  int share = 0, shares = 1;  ///< of the samples of a global batch, which all teams divide
  int team = 0, teams = 1;
  std::vector<comm::Circle> circles{};  ///< team, and replica where a model is cut over several ranks
};

/// Tells a strategy that wants to know the layers of the model, by the names of all parameters that are trained.
void tell_layers(Strategy& strategy, std::span<const std::string> trained);
void tell_layers(Strategy& strategy, const graph::Graph& graph);

/// What each of so many ranks is; numbers that do not fit together are a UsageError.
std::vector<Placement> place(const split::Split& split, const Strategy& strategy, int ranks);
/// The same for a model that is cut over so many ranks.
std::vector<Placement> place(int ways, const Strategy& strategy, int ranks);

}  // namespace isobar::parallel
