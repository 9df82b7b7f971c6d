// Schedules of all ranks at once, walked without data: every stretch of numbers that no move cuts is one value, which
// knows which ranks' numbers it sums, and by which additions. Equal values therefore mean equal bits, whatever the
// numbers are, and a count of billions costs no more than one of a hundred.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "isobar/comm/schedule.hpp"

namespace isobar::comm::symbolic {

struct SymbolicSum {
  std::uint64_t ranks = 0;  ///< one bit for each rank whose number is in the sum
  std::uint64_t shape = 0;  ///< a hash of the additions and roundings, with operands in any order
  bool rounded = false;     ///< to 16 bits
  friend bool operator==(const SymbolicSum&, const SymbolicSum&) = default;
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e37'79b9'7f4a'7c15u + b * 0xc2b2'ae3d'27d4'eb4fu + 0x1656'67b1'9e37'79f9u;
  x = (x ^ x >> 29) * 0xbf58'476d'1ce4'e5b9u;
  return x ^ x >> 32;
}

/// What rank `rank` has at first; a sum of two such values has the ranks of both.
inline SymbolicSum original(int rank) {
  return {std::uint64_t{1} << rank, mixed(7, static_cast<std::uint64_t>(rank)), false};
}
inline SymbolicSum garbage(int rank) { return {0, mixed(13, static_cast<std::uint64_t>(rank)), false}; }
inline SymbolicSum rounded(const SymbolicSum& value) {
  return value.rounded ? value : SymbolicSum{value.ranks, mixed(value.shape, 3), true};
}
inline SymbolicSum sum(const SymbolicSum& a, const SymbolicSum& b) {
  return {a.ranks | b.ranks, mixed(std::min(a.shape, b.shape), std::max(a.shape, b.shape)), false};
}

class Symbolic {
 public:
  /// Values as [rank][stretch]; stretches are cut at the ends of all moves and of the blocks of ranks.
  using Data = std::vector<std::vector<SymbolicSum>>;

  Symbolic(std::vector<Schedule> schedules, std::size_t count) : schedules_(std::move(schedules)) {
    cuts_ = {0, count};
    for (int rank = 0; rank < size(); ++rank) {
      cuts_.push_back(block(count, size(), rank).begin);
      for (const Round& round : of(rank))
        for (const Move& move : round) cuts_.insert(cuts_.end(), {move.range.begin, move.range.end()});
    }
    std::ranges::sort(cuts_);
    cuts_.erase(std::ranges::unique(cuts_).begin(), cuts_.end());
    if (cuts_.back() > count) complain("a move beyond the data");
  }

  int size() const { return static_cast<int>(schedules_.size()); }
  std::size_t stretches() const { return cuts_.size() - 1; }
  /// The rank whose block a stretch is in.
  int owner(std::size_t stretch) const {
    int rank = size() - 1;
    while (cuts_[stretch] < block(cuts_.back(), size(), rank).begin) --rank;
    return rank;
  }
  std::size_t numbers(std::size_t stretch) const { return cuts_[stretch + 1] - cuts_[stretch]; }

  /// What is wrong with the schedules; empty if nothing is.
  const std::string& complaint() const { return complaint_; }

  /// Walks the schedules of all ranks; afterwards complaint() says whether messages matched as they should.
  void walk(Data& data, bool sixteen_bits) {
    if (!complaint_.empty()) return;
    for (const Schedule& schedule : schedules_)
      if (schedule.size() != of(0).size()) return complain("ranks with different numbers of rounds");
    for (std::size_t round = 0; round < of(0).size(); ++round) walk_round(data, round, sixteen_bits);
  }

 private:
  struct Message {
    Range range;
    std::vector<SymbolicSum> values;
  };

  void walk_round(Data& data, std::size_t round, bool sixteen_bits) {
    std::map<std::pair<int, int>, std::vector<Message>> sent;  // from, to
    for (int rank = 0; rank < size(); ++rank)
      for (const Move& move : of(rank)[round]) {
        if (move.range.count == 0) complain(fmt::format("round {}: a move of no numbers", round));
        if (move.peer < 0 || move.peer >= size()) return complain(fmt::format("round {}: no such peer", round));
        if (move.kind != Move::Kind::send) continue;
        const auto [first, last] = stretch(move.range);
        std::vector<SymbolicSum>& own = data[static_cast<std::size_t>(rank)];
        for (std::size_t i = first; sixteen_bits && i < last; ++i) own[i] = rounded(own[i]);
        if (move.peer == rank) continue;
        sent[{rank, move.peer}].push_back({move.range, {own.begin() + offset(first), own.begin() + offset(last)}});
      }
    for (const auto& [pair, messages] : sent)
      if (!std::ranges::is_sorted(messages, {}, [](const Message& message) { return message.range.begin; }))
        complain(fmt::format("round {}: messages from {} to {} not in order", round, pair.first, pair.second));
    for (int rank = 0; rank < size(); ++rank) receive_all(data[static_cast<std::size_t>(rank)], rank, round, sent);
    for (const auto& [pair, messages] : sent)
      if (!messages.empty())
        complain(fmt::format("round {}: nobody receives from {} at {}", round, pair.first, pair.second));
  }

  void receive_all(std::vector<SymbolicSum>& own, int rank, std::size_t round,
                   std::map<std::pair<int, int>, std::vector<Message>>& sent) {
    std::vector<bool> received(stretches());
    for (const Move& move : of(rank)[round]) {
      if (move.kind == Move::Kind::send) continue;
      std::vector<Message>& messages = sent[{move.peer, rank}];
      if (messages.empty() || messages.front().range != move.range)
        return complain(fmt::format("round {}: rank {} waits for [{}, {}) of {}, which is not what comes", round, rank,
                                    move.range.begin, move.range.end(), move.peer));
      const auto [first, last] = stretch(move.range);
      for (std::size_t i = first; i < last; ++i) {
        const SymbolicSum& value = messages.front().values[i - first];
        if (received[i]) complain(fmt::format("round {}: rank {} receives a range twice", round, rank));
        received[i] = true;
        if (move.kind == Move::Kind::add && ((own[i].ranks & value.ranks) || !own[i].ranks || !value.ranks))
          complain(fmt::format("round {}: rank {} adds what it has, or what nobody gave", round, rank));
        own[i] = move.kind == Move::Kind::add ? sum(own[i], value) : value;
      }
      messages.erase(messages.begin());
    }
  }

  void complain(const std::string& what) {
    if (complaint_.empty()) complaint_ = what;
  }
  const Schedule& of(int rank) const { return schedules_[static_cast<std::size_t>(rank)]; }
  static std::ptrdiff_t offset(std::size_t place) { return static_cast<std::ptrdiff_t>(place); }
  std::pair<std::size_t, std::size_t> stretch(const Range& range) const {
    const auto place = [&](std::size_t cut) {
      return static_cast<std::size_t>(std::ranges::lower_bound(cuts_, cut) - cuts_.begin());
    };
    return {place(range.begin), place(range.end())};
  }

  std::vector<Schedule> schedules_;
  std::vector<std::size_t> cuts_;
  std::string complaint_;
};

}  // namespace isobar::comm::symbolic
