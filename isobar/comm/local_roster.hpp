// LocalRoster: what a launcher knows of its ranks, for ranks that are threads: who lives, who is ready, who continues;
// and when ranks die, which is decided beforehand, so that a test can make a rank die at any given message.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isobar/comm/crew.hpp"

namespace isobar::comm {

/// A rank that dies: from then on every use of its groups throws RankDied.
struct PlannedDeath {
  int rank = 0;               ///< in the world
  std::int64_t message = -1;  ///< dies when it begins this message, counted from 0 over all its groups; -1: does not
  std::int64_t muster = -1;   ///< dies at this muster, counted from 0; -1: does not
  std::function<bool(const std::string& what)> note{};  ///< dies at a note for which this returns true
};

/// Thrown in a dead rank's own threads; no other rank ever sees it.
class RankDied : public Aborted {
 public:
  using Aborted::Aborted;
};

class LocalRoster {
 public:
  struct Order {
    std::uint32_t epoch = 0;
    std::vector<int> members{};  // in the order of the world; empty: the work is over
  };

  /// Of `ranks` ranks at most `workers` work at the same time.
  LocalRoster(int ranks, int workers, std::vector<PlannedDeath> deaths);

  std::uint32_t epoch() const { return epoch_; }
  bool dead(int rank) const { return ranks_[index(rank)].state == State::dead; }
  std::vector<int> died() const { return died_; }

  /// A rank does something; returns true if it dies of it, and marks it dead.
  bool begins_message(int rank);
  bool notes(int rank, const std::string& what);
  bool musters(int rank);

  /// The others go on as they are if this rank dies.
  void alone(int rank) { ranks_[index(rank)].alone = true; }
  /// The rank has left its groups; `stands_by`: it was ordered to work but was not needed.
  void ready(int rank, bool stands_by);
  /// The rank has ended its work.
  void left(int rank);
  /// What a ready rank is to do, once that is decided.
  std::optional<Order> order(int rank) const;

 private:
  enum class State { idle, ready, working, dead, left };  // idle: ready, and has not worked so far
  struct Rank {
    State state = State::working;
    bool alone = false;
    std::int64_t messages = 0, musters = 0;
  };

  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  template <class F>
  bool dies(int rank, F due);
  void decide();

  const int workers_;
  std::vector<PlannedDeath> deaths_;
  std::vector<Rank> ranks_;
  std::vector<int> died_;
  std::uint32_t epoch_ = first_epoch;
  Order order_;
  bool over_ = false;
};

}  // namespace isobar::comm
