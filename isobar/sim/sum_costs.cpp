#include "isobar/sim/sum_costs.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "isobar/comm/walk.hpp"

namespace isobar::sim {
namespace {

// From so many numbers for each rank on blocks differ little in length: the rounds of one count stand for others.
constexpr std::size_t numbers_per_rank = 4;
// Into so many phases at most rounds of one kind are put together.
constexpr double phases_of_kind = 32;

std::unique_ptr<comm::Algorithm> algorithm_of(const Spec& spec) { return make(comm::all_reduces(), spec, "algorithm"); }

double per_second(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

}  // namespace

std::vector<int> RankNodes::nodes_of_ranks() const {
  std::vector<int> list(ranks);
  for (int rank = 0; rank < ranks; ++rank) list[rank] = node_of(rank);
  return list;
}

SumCosts::SumCosts(const Topology& topology, const Platform& platform, const RankNodes& placement)
    : topology_(topology), platform_(platform), placement_(placement), nodes_(placement.nodes_of_ranks()) {}

// Routes are asked for message by message; a link's load is what all messages of the round put on it.
SumCosts::RoundCost SumCosts::cost_of(const DistinctRound& round) {
  RoundCost cost{.times = round.times};
  std::vector<int> touched, links;
  std::vector<double> sent(nodes_.size()), received(nodes_.size()), messages(nodes_.size());
  load_.resize(topology_.links()), own_load_.resize(topology_.links());
  for (const RoundMessage& message : round.messages) {
    const double numbers = message.numbers, bytes = numbers * sizeof(float);
    cost.latency = std::max(cost.latency,
                            topology_.route(placement_.node_of(message.from), placement_.node_of(message.to), links));
    for (std::size_t i = 0; i < links.size(); ++i) {
      const int link = links[i];
      if (load_[link] == 0) touched.push_back(link);
      load_[link] += bytes;
      if (i == 0 || i + 1 == links.size()) own_load_[link] += bytes;
      else cost.alone = std::max(cost.alone, bytes / topology_.capacity(link));
    }
    messages[message.from] += 1;
    sent[message.from] += numbers;
    if (message.added) received[message.to] += numbers;
  }
  for (const int link : touched) {
    cost.transfer = std::max(cost.transfer, load_[link] / topology_.capacity(link));
    cost.alone = std::max(cost.alone, own_load_[link] / topology_.capacity(link));
  }
  cost.kind = std::ssize(shares_);
  shares_.resize(shares_.size() + 2);
  const auto take = [&](std::vector<double>& loads, double seconds, std::vector<LinkShare>& into) {
    for (const int link : touched)
      if (const double load = std::exchange(loads[link], 0); load > 0)
        into.push_back({link, static_cast<float>(load / topology_.capacity(link) / seconds)});
  };
  take(load_, cost.transfer, shares_[shares_.size() - 2]);
  take(own_load_, cost.alone, shares_.back());
  cost.messages = std::ranges::max(messages);
  cost.longest = std::ranges::max(sent) / std::max(1.0, cost.messages);
  // Adding reads two numbers and writes one.
  cost.adding = per_second(3 * sizeof(float) * std::ranges::max(received), platform_.node.sum_bytes_per_second);
  return cost;
}

std::size_t SumCosts::rounds_of(const Spec& algorithm, std::size_t count) {
  const auto [found, is_new] = rounds_.try_emplace({algorithm.str(), count}, 0);
  const comm::Group first{.rank = 0, .size = placement_.ranks, .nodes = nodes_};
  if (is_new) found->second = algorithm_of(algorithm)->schedule(first, count).size();
  return found->second;
}

const SumCosts::Costed& SumCosts::costed(const Spec& algorithm, std::size_t count) {
  std::vector<Costed>& known = known_[algorithm.str()];
  const std::size_t ranks = placement_.ranks;
  const bool many = count >= numbers_per_rank * ranks;
  const std::size_t rounds = rounds_of(algorithm, count);
  for (const Costed& one : known)
    if (one.count == count || (many && one.count >= numbers_per_rank * ranks && one.schedule_rounds == rounds))
      return one;
  // Blocks of equal length make rounds equal.
  const std::size_t even = many ? (count + ranks - 1) / ranks * ranks : count;
  Costed made{.count = even, .schedule_rounds = rounds};
  for (const DistinctRound& round : distinct_rounds(*algorithm_of(algorithm), nodes_, even)) {
    made.rounds.push_back(cost_of(round));
    for (const RoundMessage& message : round.messages) {
      made.messages += round.times / ranks;
      made.bytes += round.times * message.numbers * sizeof(float) / ranks;
    }
  }
  known.push_back(std::move(made));
  return known.back();
}

double SumCosts::latency_of(const RoundCost& round, double scale) const {
  const auto numbers = static_cast<std::size_t>(std::ceil(round.longest * scale));
  const double pieces = std::max<double>(1, comm::Walk::messages(numbers));
  return round.latency + platform_.network.message_overhead * round.messages * pieces;
}

SumCost SumCosts::cost(const Spec& algorithm, std::size_t count, const codec::Codec& codec, const Without& without) {
  SumCost sum;
  for (const RoundPhase& phase : phases(algorithm, count, codec, without)) {
    sum.latency += phase.latency;
    sum.transfer += phase.transfer;
    sum.adding += phase.adding;
  }
  if (placement_.ranks == 1 || count == 0) return sum;
  const Costed& of = costed(algorithm, count);
  sum.messages = of.messages;
  sum.bytes = of.bytes / of.count * codec.bound(count) / sizeof(float);
  return sum;
}

std::vector<RoundPhase> SumCosts::phases(const Spec& algorithm, std::size_t count, const codec::Codec& codec,
                                         const Without& without) {
  std::vector<RoundPhase> list;
  if (placement_.ranks == 1 || count == 0) return list;
  const Costed& of = costed(algorithm, count);
  const double scale = static_cast<double>(count) / of.count;
  const double moving = without.bandwidth ? 0 : scale * codec.bound(1) / sizeof(float);
  for (const RoundCost& round : of.rounds) {
    const double phases = std::min(std::ceil(round.times), phases_of_kind), each = round.times / phases;
    const RoundPhase phase{.round = round.kind + (without.contention ? 1 : 0),
                           .latency = without.latency ? 0 : each * latency_of(round, scale),
                           .transfer = each * moving * (without.contention ? round.alone : round.transfer),
                           .adding = without.bandwidth ? 0 : each * scale * round.adding};
    list.insert(list.end(), static_cast<std::size_t>(phases), phase);
  }
  return list;
}

}  // namespace isobar::sim
