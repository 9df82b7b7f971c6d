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

/// Seconds that a rank spends itself on a sum whose numbers are gathered, before and after they travel.
struct GatheredCost {
  double encoding = 0, decoding = 0;
};

/// A round of messages within passes, of all circles at the same time.
struct TalkRound {
  double seconds = 0;
  std::vector<std::pair<int, int>> messages{};  ///< from, to
};
struct TalkCost {
  std::vector<TalkRound> rounds{};
  double messages = 0, bytes = 0;  ///< sent by a rank, on average
};

/// Where ranks are: the first few of the world on the first node, and so on.
struct RankNodes {
  int ranks = 1, ranks_per_node = 1;
  int first = 0;  ///< the number in the world that the first of them has

  int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
  int node_of(int rank) const { return (first + rank) / ranks_per_node; }
  /// Counted from the node of the first.
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
  /// The phases of bringing so many bytes of every rank to all, once round a ring.
  std::vector<RoundPhase> phases_of_gathering(std::size_t bytes, const Without& without);
  /// What a rank reads and writes itself when so many numbers are encoded in so many bytes, and those of all decoded.
  GatheredCost gathered(std::size_t count, std::size_t bytes, const Without& without) const;
  /// Of messages that the ranks of each circle send each other: rank i of a circle has the i-th schedule; null: it
  /// sends and receives nothing. Circles hold ranks of `placement`.
  TalkCost talk(std::span<const comm::Schedule* const> schedules, std::span<const std::vector<int>> circles,
                double number_bytes, const Without& without);
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

  const Costed& costed(const std::string& name, const comm::Algorithm& algorithm, std::size_t count);
  const Costed& costed(const Spec& algorithm, std::size_t count);
  std::vector<RoundPhase> phases_of(const Costed& of, double scale, double bytes_per_number, bool in_pieces,
                                    const Without& without) const;
  RoundCost cost_of(const DistinctRound& round);
  double at_least(const Spec& algorithm, std::size_t count) const;
  std::size_t rounds_of(const std::string& name, const comm::Algorithm& algorithm, std::size_t count);
  double latency_of(const RoundCost& round, double scale, bool in_pieces = true) const;

  const Topology& topology_;
  const Platform& platform_;
  RankNodes placement_;
  std::vector<int> nodes_;
  std::map<std::string, std::vector<Costed>> known_;
  std::map<std::pair<std::string, std::size_t>, Spec> chosen_;
  std::map<std::pair<std::string, std::size_t>, std::size_t> rounds_;  // of a schedule
  std::vector<std::vector<LinkShare>> shares_;                         // by kind of round
};

}  // namespace isobar::sim
