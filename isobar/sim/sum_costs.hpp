// SumCosts: what a sum over all ranks costs when each distinct round of its schedule is costed once: latency, and the
// load on the link that has most to carry. For transfers that start together this equals SimGrid's sharing of links.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isobar/comm/schedule.hpp"
#include "isobar/sim/link_shares.hpp"
#include "isobar/sim/rounds.hpp"
#include "isobar/sim/simulate.hpp"
#include "isobar/sim/topology.hpp"

namespace isobar::sim {

/// Seconds of one sum that nothing disturbs, by what takes them.
struct SumCost {
  double latency = 0;              ///< of messages, and what they cost their ranks
  double transfer = 0;             ///< on links shared with other messages of the sum
  double adding = 0;               ///< of what arrives
  double messages = 0, bytes = 0;  ///< sent by a rank, on average

  double seconds() const { return latency + transfer + adding; }
};

/// Where ranks are: the first few on the first node, and so on.
struct RankNodes {
  int ranks = 1, ranks_per_node = 1;

  int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  int node_of(int rank) const { return rank / ranks_per_node; }
  std::vector<int> nodes_of_ranks() const;
};

class SumCosts {
 public:
  /// Both must outlive this.
  SumCosts(const Topology& topology, const Platform& platform, const RankNodes& placement);

  /// Of an algorithm of comm::all_reduces().
  SumCost cost(const Spec& algorithm, std::size_t count, const codec::Codec& codec = *codec::plain(),
               const Without& without = {});
  /// The same round by round; rounds of one kind are put together so that there are not too many.
  std::vector<RoundPhase> phases(const Spec& algorithm, std::size_t count, const codec::Codec& codec = *codec::plain(),
                                 const Without& without = {});
  /// The links a kind of round uses, of phases() with contention or without.
  std::span<const LinkShare> shares(int round) const { return shares_[round]; }
  /// What really sums so many numbers when `asked` is in the recipe: itself, or for auto, native, shared and a
  /// hierarchical one without its parts the fastest of what the reducer would choose from.
  const Spec& chosen(const Spec& asked, std::size_t count);
  /// For reports: "halving_doubling", "auto: recursive_doubling up to 64 B, ring above".
  std::string describe(const Spec& asked) const;

 private:
  // Of one round of `count` floats: of all links, and of those of nodes alone.
  struct RoundCost {
    double times = 0, latency = 0, adding = 0;
    double messages = 0, longest = 0;  // of the rank that sends most: how many, and numbers of each
    double transfer = 0, alone = 0;
    int kind = 0;  // of shares_; that without contention is the next
  };
  struct Costed {
    std::size_t count = 0, schedule_rounds = 0;
    std::vector<RoundCost> rounds{};
    double messages = 0, bytes = 0;
  };

  const Costed& costed(const Spec& algorithm, std::size_t count);
  RoundCost cost_of(const DistinctRound& round);
  double at_least(const Spec& algorithm, std::size_t count) const;
  std::size_t rounds_of(const Spec& algorithm, std::size_t count);
  double latency_of(const RoundCost& round, double scale) const;

  const Topology& topology_;
  const Platform& platform_;
  RankNodes placement_;
  std::vector<int> nodes_;
  std::map<std::string, std::vector<Costed>> known_;
  std::map<std::pair<std::string, std::size_t>, Spec> chosen_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> rounds_;  // of a schedule
  std::vector<double> load_, own_load_;                                // of a round, by link
  std::vector<std::vector<LinkShare>> shares_;                         // by kind of round
};

}  // namespace isobar::sim
