#include "isobar/control/roster.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::control {

Roster::Roster(Setup setup) : setup_(setup) {
  expects(setup.ranks > 0 && setup.spares >= 0 && setup.ranks + setup.spares <= most_ranks, "a number of ranks");
  ranks_.resize(setup.ranks + setup.spares);
}

std::vector<int> Roster::in(State state) const {
  std::vector<int> found;
  for (int rank = 0; rank < size(); ++rank)
    if (this->state(rank) == state) found.push_back(rank);
  return found;
}

// The ranks with a socket.
std::vector<int> Roster::present(bool with_finished) const {
  std::vector<int> found;
  for (int rank = 0; rank < size(); ++rank) {
    const State now = state(rank);
    if (now != State::absent && now != State::dead && (with_finished || now != State::finished)) found.push_back(rank);
  }
  return found;
}

bool Roster::running() const {
  return phase_ == Phase::starting || phase_ == Phase::working || phase_ == Phase::mustering;
}

bool Roster::ended() const { return present(false).empty() && in(State::absent).empty(); }

std::optional<Actions> Roster::join(int rank) {
  if (rank < 0 || rank >= size() || state(rank) != State::absent) return {};
  at(rank).state = State::busy;
  Actions actions{{{.kind = Notice::Kind::welcome, .epoch = epoch_, .rank = size()}, {rank}}};
  if (failure_)
    actions.push_back({{.kind = Notice::Kind::failure, .rank = failure_->first, .text = failure_->second}, {rank}});
  if (phase_ == Phase::relaunching)
    actions.push_back({{.kind = Notice::Kind::relaunch, .epoch = epoch_, .text = reason_}, {rank}});
  return actions;
}

Actions Roster::ready(int rank, std::uint32_t epoch) {
  Actions actions;
  Rank& who = at(rank);
  if (who.state == State::dead || who.state == State::finished || epoch != epoch_) return actions;
  if (phase_ == Phase::over) actions.push_back({{.kind = Notice::Kind::over}, {rank}});
  if (phase_ == Phase::working) who.state = State::standing_by;  // the group does not need it
  if (phase_ != Phase::starting && phase_ != Phase::mustering) return actions;
  who.state = State::ready;
  go_if_all_ready(actions);
  return actions;
}

void Roster::go_if_all_ready(Actions& actions) {
  const std::vector<int> left = present(false);
  if (left.empty()) return begin_relaunch(actions, "no rank is left that could continue");
  const bool too_few = std::ssize(left) < setup_.least;
  if (too_few && phase_ == Phase::mustering && in(State::finished).empty())
    return begin_relaunch(
        actions, fmt::format("{} left, --min-ranks asks for {}",
                             left.size() == 1 ? "1 rank is" : fmt::format("{} ranks are", left.size()), setup_.least));
  if (in(State::ready).size() != left.size() || !in(State::absent).empty()) return;
  std::vector<int> next;
  for (const int rank : members_)
    if (state(rank) == State::ready) next.push_back(rank);
  for (const bool worked : {true, false})
    for (const int rank : left)
      if (at(rank).worked == worked && std::ranges::find(next, rank) == next.end()) next.push_back(rank);
  if (std::ssize(next) > setup_.ranks) next.resize(setup_.ranks);
  members_ = std::move(next);
  for (const int rank : left) at(rank).state = State::standing_by;
  for (const int rank : members_) at(rank) = {State::working, true};
  phase_ = Phase::working;
  actions.push_back({{.kind = Notice::Kind::go, .epoch = epoch_, .members = members_}, members_});
}

void Roster::move_epoch() {
  ++epoch_;
  for (const int rank : present(false)) at(rank).state = State::busy;
}

Actions Roster::die(int rank) {
  Actions actions;
  const State was = state(rank);
  if (was == State::dead) return actions;
  at(rank).state = State::dead;
  if (was == State::finished) return actions;
  if (was == State::working && !at(rank).alone && (running() || phase_ == Phase::over)) {
    move_epoch();
    actions.push_back({{.kind = Notice::Kind::dead, .epoch = epoch_, .rank = rank}, present(true)});
    if (running()) phase_ = Phase::mustering;
  } else {
    actions.push_back({{.kind = Notice::Kind::gone, .rank = rank}, present(true)});
  }
  // Before all have been ready some may be inside MPI_Init, which never returns without the dead one.
  if (phase_ == Phase::starting) begin_relaunch(actions, fmt::format("rank {} died before the work began", rank));
  if (phase_ == Phase::mustering) go_if_all_ready(actions);
  return actions;
}

void Roster::begin_relaunch(Actions& actions, const std::string& why) {
  move_epoch();
  phase_ = Phase::relaunching;
  reason_ = why;
  actions.push_back({{.kind = Notice::Kind::relaunch, .epoch = epoch_, .text = why}, present(false)});
  if (const auto waiting = in(State::finished); !waiting.empty())
    actions.push_back({{.kind = Notice::Kind::leave}, waiting});
}

Actions Roster::relaunch(const std::string& why) {
  Actions actions;
  if (running()) begin_relaunch(actions, why);
  return actions;
}

Actions Roster::give_up(int rank, const std::string& why) {
  return state(rank) == State::dead ? Actions{} : relaunch(fmt::format("rank {}: {}", rank, why));
}

Actions Roster::fail(int rank, const std::string& message) {
  Actions actions;
  if (state(rank) == State::dead) return actions;
  if (failure_ || !running()) {  // a consequence of what all know already
    const auto known = failure_.value_or(std::pair(-1, phase_ == Phase::over ? "the work is over" : reason_));
    actions.push_back({{.kind = Notice::Kind::failure, .rank = known.first, .text = known.second}, {rank}});
    return actions;
  }
  failure_ = {rank, message};
  phase_ = Phase::failing;
  exit_code_ = 1;
  actions.push_back({{.kind = Notice::Kind::failure, .rank = rank, .text = message}, present(true)});
  if (const auto waiting = in(State::finished); !waiting.empty())
    actions.push_back({{.kind = Notice::Kind::leave}, waiting});
  return actions;
}

void Roster::finish_work(Actions& actions) {
  phase_ = Phase::over;
  actions.push_back({{.kind = Notice::Kind::leave}, in(State::finished)});
  std::vector<int> waiting = in(State::standing_by);
  for (const int rank : in(State::ready)) waiting.push_back(rank);
  if (!waiting.empty()) actions.push_back({{.kind = Notice::Kind::over}, waiting});
}

Actions Roster::goodbye(int rank, int exit_code) {
  constexpr int interrupted = 130;
  Actions actions;
  if (state(rank) == State::dead || state(rank) == State::finished) return actions;
  at(rank).state = State::finished;
  if (running() && exit_code != 0 && exit_code != interrupted)
    actions = fail(rank, fmt::format("ended with exit code {}", exit_code));
  if (failure_ && failure_->first == rank) exit_code_ = exit_code;
  const bool leads = !members_.empty() && members_.front() == rank;
  if (!running()) {
    if (phase_ == Phase::over && leads) exit_code_ = exit_code;
    actions.push_back({{.kind = Notice::Kind::leave}, {rank}});
  } else if (leads || ended()) {
    exit_code_ = exit_code;
    finish_work(actions);
  } else if (phase_ == Phase::mustering) {
    go_if_all_ready(actions);
  }
  return actions;
}

}  // namespace isobar::control
