// What the ranks of a recipe will be and need, without starting any: for 'isobar plan RECIPE --ranks N'.
#pragma once

#include "isobar/parallel/placement.hpp"
#include "isobar/train/batching.hpp"

namespace isobar::run {

/// Ranks that are alike but for their share of the samples.
struct KindOfRank {
  std::vector<int> ranks{};
  parallel::Placement placement{};  ///< of the first of them
  std::string part{};               ///< of the network, for people
  std::size_t memory_bytes = 0;     ///< weights, gradients, optimizer slots, arena, and what the strategy needs
  comm::Traffic traffic{};          ///< sent in a step, of the one that sends most
};

struct PlacedRanks {
  train::Batching batching;
  std::vector<KindOfRank> kinds;
  std::int64_t steps_per_epoch = 0;
};

/// Places `ranks` ranks, `per_node` on each node.
PlacedRanks place_ranks(const train::Job& job, int ranks, int per_node);

/// As lines for people.
std::string describe(const PlacedRanks& placed, const train::Job& job);
std::string to_json(const PlacedRanks& placed);

}  // namespace isobar::run
