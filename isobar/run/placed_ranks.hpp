// What ranks will be and need, without starting any: for 'isobar plan RECIPE --ranks N', and for a network without a
// recipe.
#pragma once

#include <map>

#include "isobar/parallel/composition.hpp"
#include "isobar/parallel/placement.hpp"
#include "isobar/train/batching.hpp"

namespace isobar::run {

/// Ranks that are alike but for their share of the samples.
struct KindOfRank {
  std::vector<int> ranks{};
  parallel::Placement placement{};        ///< of the first of them
  std::string part{};                     ///< of the network, for people
  std::map<std::string, Box> reads{};     ///< of every input of a sample
  double share = 1;                       ///< of the numbers of a sample's inputs that these are
  std::string fingerprint{};              ///< of the plan of a training step
  std::size_t memory_bytes = 0;           ///< weights, gradients, optimizer slots, arena, and what the strategy needs
  comm::Traffic traffic{};                ///< sent in a step by the strategy, of the one that sends most
  comm::Traffic messages{};               ///< sent within the passes of a step by the network that is cut
  std::map<int, std::int64_t> sent_to{};  ///< the bytes of these messages, by rank of the replica
  double flops = 0;                       ///< of a step
};

struct PlacedRanks {
  parallel::Composition composition;  ///< with all defaults
  train::Batching batching;
  std::vector<KindOfRank> kinds;
  std::int64_t steps_per_epoch = 0;  ///< 0: not known
  /// Where a model is cut: what a rank with all of it would need and compute for the same samples.
  std::size_t whole_memory_bytes = 0;
  double whole_flops = 0;
};

/// Places `ranks` ranks of a job, `per_node` on each node.
PlacedRanks place_ranks(const train::Job& job, int ranks, int per_node);

/// A network without a recipe.
struct BareNetwork {
  std::function<graph::Graph(std::int64_t batch)> graph{};
  std::int64_t batch = 1;  ///< samples of a step, all ranks together
  std::string optimizer{}, split{}, strategy{};
  std::size_t memory_limit = 0;  ///< as in train::Job
};
PlacedRanks place_ranks(const BareNetwork& network, int ranks, int per_node);

/// As lines for people.
std::string describe(const PlacedRanks& placed);
std::string to_json(const PlacedRanks& placed);

}  // namespace isobar::run
