#include "isobar/parallel/gossip_partners.hpp"

#include "isobar/base/random.hpp"

namespace isobar::parallel {
namespace {

// Of all other ranks, the one that this rank draws in the round.
int drawn_by(int rank, const GossipRound& at) {
  const auto others = static_cast<std::uint64_t>(at.ranks - 1);
  const Random random = Random(at.seed, 0x60551b).sub(static_cast<std::uint64_t>(at.round));
  const int other = static_cast<int>(random.below(static_cast<std::uint64_t>(rank), others));
  return other + (other >= rank ? 1 : 0);
}

std::vector<int> who_drew(const GossipRound& at) {
  std::vector<int> list;
  for (int rank = 0; rank < at.ranks; ++rank)
    if (rank != at.rank && drawn_by(rank, at) == at.rank) list.push_back(rank);
  return list;
}

Mixing pull(const GossipRound& at) {
  if (at.ranks == 1) return {};
  return {who_drew(at), {drawn_by(at.rank, at)}, 0.5, 0.5};
}

Mixing push(const GossipRound& at) {
  if (at.ranks == 1) return {};
  Mixing mixing{{drawn_by(at.rank, at)}, who_drew(at)};
  mixing.own = mixing.each = 1.0 / static_cast<double>(1 + mixing.from.size());
  return mixing;
}

Mixing ring(const GossipRound& at) {
  if (at.ranks == 1) return {};
  const int next = (at.rank + 1) % at.ranks, previous = (at.rank + at.ranks - 1) % at.ranks;
  if (next == previous) return {{next}, {next}, 0.5, 0.5};
  return {{previous, next}, {previous, next}, 1.0 / 3, 1.0 / 3};
}

// The distance doubles from round to round, as long as it is below the number of ranks. Everyone sends to one and hears
// from one, so the weights of push-sum stay 1.
Mixing exponential(const GossipRound& at) {
  if (at.ranks == 1) return {};
  int distances = 0;
  while ((1 << distances) < at.ranks) ++distances;
  const int distance = 1 << (at.round % distances);
  return {{(at.rank + distance) % at.ranks}, {(at.rank + at.ranks - distance) % at.ranks}, 0.5, 0.5};
}

constexpr GossipKind kinds[] = {
    {"exponential", "sends to the rank 1, 2, 4, ... places on; the mean is exact after log2(ranks) rounds", exponential,
     1},
    {"pull", "takes the mean with the model of a rank drawn by chance", pull, 1},
    {"push", "sends to a rank drawn by chance, and takes the mean with all that arrive", push, 1},
    {"ring", "takes the mean with both neighbours", ring, 2},
};

}  // namespace

std::span<const GossipKind> gossip_kinds() { return kinds; }

}  // namespace isobar::parallel
