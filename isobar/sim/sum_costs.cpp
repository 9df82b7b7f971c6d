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

// Whether a rank adds what it receives in a round: algorithms do not mix both.
bool adds(std::span<const comm::Schedule* const> schedules, std::size_t round, int rank) {
  const comm::Schedule* const of = schedules[rank];
  return of && round < of->size() &&
         std::ranges::any_of((*of)[round], [](const auto& move) { return move.kind == comm::Move::Kind::add; });
}

double per_second(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

}  // namespace

std::vector<int> RankNodes::nodes_of_ranks() const {
  std::vector<int> list(ranks);
  for (int rank = 0; rank < ranks; ++rank) list[rank] = node_of(rank) - node_of(0);
  return list;
}

SumCosts::SumCosts(const Topology& topology, const Platform& platform, const RankNodes& placement)
    : topology_(topology), platform_(platform), placement_(placement), nodes_(placement.nodes_of_ranks()) {}

// Routes are asked for message by message; a link's load is what all messages of the round put on it.
SumCosts::RoundCost SumCosts::cost_of(const DistinctRound& round) {
  RoundCost cost{.times = round.times};
  std::vector<int> touched, links;
  std::vector<double> sent(nodes_.size()), received(nodes_.size()), messages(nodes_.size());
  std::vector<double> load(topology_.links()), own_load(topology_.links());
  for (const RoundMessage& message : round.messages) {
    const double numbers = message.numbers, bytes = numbers * sizeof(float);
    cost.latency = std::max(cost.latency,
                            topology_.route(placement_.node_of(message.from), placement_.node_of(message.to), links));
    for (std::size_t i = 0; i < links.size(); ++i) {
      const int link = links[i];
      if (load[link] == 0) touched.push_back(link);
      load[link] += bytes;
      if (i == 0 || i + 1 == links.size()) own_load[link] += bytes;
      else cost.alone = std::max(cost.alone, bytes / topology_.capacity(link));
    }
    messages[message.from] += 1;
    sent[message.from] += numbers;
    if (message.added) received[message.to] += numbers;
  }
  for (const int link : touched) {
    cost.transfer = std::max(cost.transfer, load[link] / topology_.capacity(link));
    cost.alone = std::max(cost.alone, own_load[link] / topology_.capacity(link));
  }
  cost.kind = std::ssize(shares_);
  shares_.resize(shares_.size() + 2);
  const auto take = [&](const std::vector<double>& loads, double seconds, std::vector<LinkShare>& into) {
    for (const int link : touched)
      if (loads[link] > 0) into.push_back({link, static_cast<float>(loads[link] / topology_.capacity(link) / seconds)});
  };
  take(load, cost.transfer, shares_[shares_.size() - 2]);
  take(own_load, cost.alone, shares_.back());
  cost.messages = std::ranges::max(messages);
  cost.longest = std::ranges::max(sent) / std::max(1.0, cost.messages);
  // Adding reads two numbers and writes one.
  cost.adding = per_second(3 * sizeof(float) * std::ranges::max(received), platform_.node.sum_bytes_per_second);
  return cost;
}

std::size_t SumCosts::rounds_of(const std::string& name, const comm::Algorithm& algorithm, std::size_t count) {
  const auto [found, is_new] = rounds_.try_emplace({name, count}, 0);
  const comm::Group first{.rank = 0, .size = placement_.ranks, .nodes = nodes_};
  if (is_new) found->second = algorithm.schedule(first, count).size();
  return found->second;
}

const SumCosts::Costed& SumCosts::costed(const Spec& algorithm, std::size_t count) {
  return costed(algorithm.str(), *algorithm_of(algorithm), count);
}

const SumCosts::Costed& SumCosts::costed(const std::string& name, const comm::Algorithm& algorithm, std::size_t count) {
  std::vector<Costed>& known = known_[name];
  const std::size_t ranks = placement_.ranks;
  const bool many = count >= numbers_per_rank * ranks;
  const std::size_t rounds = rounds_of(name, algorithm, count);
  for (const Costed& one : known)
    if (one.count == count || (many && one.count >= numbers_per_rank * ranks && one.schedule_rounds == rounds))
      return one;
  // Blocks of equal length make rounds equal.
  const std::size_t even = many ? (count + ranks - 1) / ranks * ranks : count;
  Costed made{.count = even, .schedule_rounds = rounds};
  for (const DistinctRound& round : distinct_rounds(algorithm, nodes_, even)) {
    made.rounds.push_back(cost_of(round));
    for (const RoundMessage& message : round.messages) {
      made.messages += round.times / ranks;
      made.bytes += round.times * message.numbers * sizeof(float) / ranks;
    }
  }
  known.push_back(std::move(made));
  return known.back();
}

double SumCosts::latency_of(const RoundCost& round, double scale, bool in_pieces) const {
  const auto numbers = static_cast<std::size_t>(std::ceil(round.longest * scale));
  const double pieces = in_pieces ? std::max<double>(1, comm::Walk::messages(numbers)) : 1;
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
  if (placement_.ranks == 1 || count == 0) return {};
  const Costed& of = costed(algorithm, count);
  return phases_of(of, static_cast<double>(count) / of.count, codec.bound(1), true, without);
}

std::vector<RoundPhase> SumCosts::phases_of(const Costed& of, double scale, double bytes_per_number, bool in_pieces,
                                            const Without& without) const {
  std::vector<RoundPhase> list;
  const double moving = without.bandwidth ? 0 : scale * bytes_per_number / sizeof(float);
  for (const RoundCost& round : of.rounds) {
    const double phases = std::min(std::ceil(round.times), phases_of_kind), each = round.times / phases;
    const RoundPhase phase{.round = round.kind + (without.contention ? 1 : 0),
                           .latency = without.latency ? 0 : each * latency_of(round, scale, in_pieces),
                           .transfer = each * moving * (without.contention ? round.alone : round.transfer),
                           .adding = without.bandwidth ? 0 : each * scale * round.adding};
    list.insert(list.end(), static_cast<std::size_t>(phases), phase);
  }
  return list;
}

std::vector<RoundPhase> SumCosts::phases_of_gathering(std::size_t bytes, const Without& without) {
  if (placement_.ranks == 1 || bytes == 0) return {};
  const auto ring = make(comm::all_gathers(), "ring", "all-gather");
  const std::size_t count = bytes / sizeof(float) * placement_.ranks;
  const Costed& of = costed("gathered", *ring, count);
  return phases_of(of, static_cast<double>(count) / of.count, sizeof(float), false, without);
}

// Encoding reads the numbers and writes the bytes; decoding reads those of every rank, and reads and writes a number
// for each that it finds in them.
GatheredCost SumCosts::gathered(std::size_t count, std::size_t bytes, const Without& without) const {
  const double rate = without.bandwidth ? 0 : platform_.node.sum_bytes_per_second;
  return {per_second(1.0 * count * sizeof(float) + bytes, rate), per_second(3.0 * bytes * placement_.ranks, rate)};
}

TalkCost SumCosts::talk(std::span<const comm::Schedule* const> schedules, std::span<const std::vector<int>> circles,
                        double number_bytes, const Without& without) {
  TalkCost talk;
  const double scale = number_bytes / sizeof(float);
  std::size_t rounds = 0;
  for (const comm::Schedule* each : schedules)
    if (each) rounds = std::max(rounds, each->size());
  for (std::size_t i = 0; i < rounds; ++i) {
    DistinctRound all{.times = 1};
    for (const std::vector<int>& circle : circles)
      for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
        if (!schedules[rank] || i >= schedules[rank]->size()) continue;
        for (const comm::Move& move : (*schedules[rank])[i])
          if (move.is_message_of(static_cast<int>(rank)))
            all.messages.push_back({circle[rank], circle[move.peer], move.range.count, adds(schedules, i, move.peer)});
      }
    const RoundCost cost = cost_of(all);
    TalkRound round;
    if (!without.latency) round.seconds += latency_of(cost, scale);
    if (!without.bandwidth) round.seconds += scale * ((without.contention ? cost.alone : cost.transfer) + cost.adding);
    for (const RoundMessage& message : all.messages) {
      round.messages.emplace_back(message.from, message.to);
      talk.messages += 1.0 / placement_.ranks;
      talk.bytes += message.numbers * number_bytes / placement_.ranks;
    }
    if (!round.messages.empty()) talk.rounds.push_back(std::move(round));
  }
  return talk;
}

}  // namespace isobar::sim
