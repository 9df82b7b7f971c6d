#include "isobar/sim/rounds.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <unordered_map>

#include "isobar/base/random.hpp"

namespace isobar::sim {
namespace {

using comm::Move;

// Calls work(rank, schedule) for all ranks, on two threads: thread t gets every second rank.
template <class Work>
void each_schedule(const comm::Algorithm& algorithm, const std::vector<int>& nodes, std::size_t count, Work work) {
  constexpr int threads = 2;
  const int size = std::ssize(nodes);
  const auto serve = [&](int thread) {
    comm::Group group{.rank = 0, .size = size, .nodes = nodes};
    for (int rank = thread; rank < size; rank += threads) {
      group.rank = rank;
      work(thread, rank, algorithm.schedule(group, count));
    }
  };
  std::jthread other(serve, 1);
  serve(0);
}

// One number for every round, equal where the same ranks send each other equally much.
std::vector<std::uint64_t> fingerprints(const comm::Algorithm& algorithm, const std::vector<int>& nodes,
                                        std::size_t count) {
  std::vector<std::uint64_t> parts[2];
  each_schedule(algorithm, nodes, count, [&](int thread, int rank, const comm::Schedule& schedule) {
    std::vector<std::uint64_t>& sums = parts[thread];
    sums.resize(std::max(sums.size(), schedule.size()));
    for (std::size_t round = 0; round < schedule.size(); ++round)
      for (const Move& move : schedule[round])
        if (move.is_message_of(rank)) sums[round] += mix(mix(rank, move.peer), move.range.count);
        // Whether a message is added is known to its receiver.
        else if (move.kind == Move::Kind::add) sums[round] += mix(std::uint64_t{1} * rank << 32, move.range.count);
  });
  parts[0].resize(std::max(parts[0].size(), parts[1].size()));
  for (std::size_t i = 0; i < parts[1].size(); ++i) parts[0][i] += parts[1][i];
  return parts[0];
}

}  // namespace

std::vector<DistinctRound> distinct_rounds(const comm::Algorithm& algorithm, const std::vector<int>& nodes,
                                           std::size_t count, std::size_t most) {
  const std::vector<std::uint64_t> prints = fingerprints(algorithm, nodes, count);
  std::vector<std::size_t> representatives;  // rounds, in order
  std::vector<DistinctRound> distinct;
  std::unordered_map<std::uint64_t, std::size_t> known;
  for (std::size_t round = 0; round < prints.size(); ++round) {
    if (prints[round] == 0) continue;  // nobody sends anything
    const auto [found, is_new] = known.try_emplace(prints[round], distinct.size());
    if (is_new) {
      representatives.push_back(round);
      distinct.emplace_back();
    }
    distinct[found->second].times += 1;
  }
  if (distinct.size() > most) {
    const std::size_t all = distinct.size();
    std::vector<DistinctRound> fewer(most);
    std::vector<std::size_t> chosen(most);
    for (std::size_t i = 0; i < all; ++i) fewer[i * most / all].times += distinct[i].times;
    for (std::size_t i = 0; i < most; ++i) chosen[i] = representatives[(2 * i + 1) * all / (2 * most)];
    distinct = std::move(fewer);
    representatives = std::move(chosen);
  }

  // A rank that adds in a round is taken to add all it receives in it: algorithms do not mix both.
  std::vector<std::vector<RoundMessage>> sent[2];
  sent[0].resize(distinct.size());
  sent[1].resize(distinct.size());
  std::vector<std::vector<char>> adding(distinct.size(), std::vector<char>(nodes.size()));
  each_schedule(algorithm, nodes, count, [&](int thread, int rank, const comm::Schedule& schedule) {
    for (std::size_t i = 0; i < representatives.size(); ++i) {
      if (representatives[i] >= schedule.size()) continue;
      for (const Move& move : schedule[representatives[i]])
        if (move.is_message_of(rank)) sent[thread][i].push_back({rank, move.peer, move.range.count, false});
        else if (move.kind == Move::Kind::add) adding[i][rank] = 1;
    }
  });
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    std::vector<RoundMessage>& messages = distinct[i].messages;
    messages = std::move(sent[0][i]);
    messages.insert(messages.end(), sent[1][i].begin(), sent[1][i].end());
    for (RoundMessage& message : messages) message.added = adding[i][message.to] != 0;
    std::ranges::sort(messages, {}, &RoundMessage::from);
  }
  return distinct;
}

}  // namespace isobar::sim
