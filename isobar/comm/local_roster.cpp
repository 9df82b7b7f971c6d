#include "isobar/comm/local_roster.hpp"

#include <algorithm>

namespace isobar::comm {

LocalRoster::LocalRoster(int ranks, int workers, std::vector<PlannedDeath> deaths)
    : workers_(workers), deaths_(std::move(deaths)), ranks_(index(ranks)) {
  expects(workers >= 1 && workers <= ranks, "ranks that work");
  for (const PlannedDeath& death : deaths_) expects(death.rank >= 0 && death.rank < ranks, "a rank that can die");
}

template <class F>
bool LocalRoster::dies(int rank, F due) {
  Rank& self = ranks_[index(rank)];
  if (self.state == State::dead) return true;
  if (!std::ranges::any_of(deaths_, [&](const PlannedDeath& death) { return death.rank == rank && due(death); }))
    return false;
  // An idle rank takes no part in the work, and one that works alone is not missed: no group has lost a member.
  if (self.state != State::idle && !self.alone) ++epoch_;
  self.state = State::dead;
  died_.push_back(rank);
  decide();
  return true;
}

bool LocalRoster::begins_message(int rank) {
  const std::int64_t number = ranks_[index(rank)].messages++;
  return dies(rank, [&](const PlannedDeath& death) { return death.message == number; });
}

bool LocalRoster::notes(int rank, const std::string& what) {
  return dies(rank, [&](const PlannedDeath& death) { return death.note && death.note(what); });
}

bool LocalRoster::musters(int rank) {
  const std::int64_t number = ranks_[index(rank)].musters++;
  return dies(rank, [&](const PlannedDeath& death) { return death.muster == number; });
}

void LocalRoster::ready(int rank, bool stands_by) {
  ranks_[index(rank)].state = stands_by ? State::idle : State::ready;
  decide();
}

void LocalRoster::left(int rank) {
  if (!dead(rank)) ranks_[index(rank)].state = State::left;
  decide();
}

// Decides as soon as no rank is working: ranks that are ready continue in the present epoch. If some have ended and
// none came back from work, the work is over.
void LocalRoster::decide() {
  const auto count = [&](State state) { return std::ranges::count(ranks_, state, &Rank::state); };
  if (count(State::working) > 0 || over_) return;
  if (count(State::ready) == 0 && count(State::left) > 0) {
    over_ = true;
    return;
  }
  if (order_.epoch == epoch_) return;
  order_ = {epoch_, {}};
  for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank) {
    State& state = ranks_[index(rank)].state;
    if (state != State::ready && state != State::idle) continue;
    const bool goes = static_cast<int>(order_.members.size()) < workers_;
    if (goes) order_.members.push_back(rank);
    state = goes ? State::working : State::idle;
  }
}

std::optional<LocalRoster::Order> LocalRoster::order(int rank) const {
  if (over_) return Order{epoch_, {}};
  if (ranks_[index(rank)].state == State::working) return order_;
  return {};
}

}  // namespace isobar::comm
