// Gossip partners: who sends its model to whom in a round, and how a rank mixes what it receives with its own. Pure
// functions of rank, ranks, round and seed, so that every rank knows what the others do.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace isobar::parallel {

/// A rank's part of a round: x <- own x + each (the models received, together).
struct Mixing {
  std::vector<int> to{}, from{};
  double own = 1, each = 0;
};

struct GossipRound {
  int rank = 0, ranks = 1;
  std::int64_t round = 0;  ///< counts from 0
  std::uint64_t seed = 0;
};

/// A kind of gossip.
struct GossipKind {
  std::string_view name, what;
  Mixing (*mixing)(const GossipRound&);
  /// Models that a rank sends in a round, in the mean.
  int sends;
};

/// pull, push, ring and exponential.
std::span<const GossipKind> gossip_kinds();

}  // namespace isobar::parallel
