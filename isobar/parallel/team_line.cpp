#include "isobar/parallel/team_line.hpp"

#include <algorithm>

#include "isobar/comm/collectives.hpp"

namespace isobar::parallel {

void TeamLine::exchange(Replica& replica, const optim::Step& step, double samples) {
  if (link_) {
    link_->exchange(replica, step, samples);
    link_->take(replica);
  }
  share(replica, false);
}

void TeamLine::fetch(Replica& replica) {
  if (!of_first_team_ || finished_) return;
  if (link_) link_->fetch(replica);
  share(replica, true);
}

void TeamLine::finish(Replica& replica) {
  if (std::exchange(finished_, true)) return;
  if (link_) link_->finish(replica);
  if (of_first_team_) share(replica, true);
}

bool TeamLine::stopping(bool mine) {
  told_.stop = told_.stop || mine;
  if (link_) link_->stopping(mine);
  return told_.stop;
}

// Weights lie in memory one after the other.
void TeamLine::share(Replica& replica, bool with_statistics) {
  if (link_) told_ = {link_->updates(), link_->stopping(false)};
  if (team_.size() == 1) return;
  const double begin = team_.now(), begin_traced = now_seconds();
  comm::broadcast_object(team_, told_);
  std::size_t numbers = 0;
  const auto each = [&](auto work) {
    for (const ReplicaParameter& parameter : replica.parameters())
      if (parameter.trained || with_statistics) work(parameter.weight);
  };
  if (!weights_) {
    for (const ReplicaParameter& parameter : replica.parameters()) numbers += parameter.weight.size();
    weights_ = comm::message_memory(team_, numbers);
  }
  numbers = 0;
  each([&](std::span<float> weight) { numbers += weight.size(); });
  const std::span<float> all = weights_->mine().first(numbers);
  const auto copied = [&](auto copy) {
    if (replica.pretends(2.0 * static_cast<double>(all.size_bytes()))) return;
    std::span<float> rest = all;
    each([&](std::span<float> weight) {
      copy(weight, rest.first(weight.size()));
      rest = rest.subspan(weight.size());
    });
  };
  if (link_) copied([](std::span<float> weight, std::span<float> to) { std::ranges::copy(weight, to.begin()); });
  comm::broadcast(team_, std::as_writable_bytes(all));
  if (!link_) copied([](std::span<float> weight, std::span<float> from) { std::ranges::copy(from, weight.begin()); });
  waited_seconds_ += team_.now() - begin;
  if (!replica.trace()) return;
  Trace& trace = replica.trace()->main();
  if (sharing_.in_trace < 0) sharing_.in_trace = trace.intern(sharing_.name);
  trace.record({sharing_.category, static_cast<std::uint32_t>(sharing_.in_trace), told_.updates, begin_traced,
                now_seconds() - begin_traced, 0, static_cast<double>(all.size_bytes())});
}

comm::ExchangeCost TeamLine::cost() const {
  comm::ExchangeCost cost = link_ ? link_->cost() : comm::ExchangeCost{};
  return cost += {waited_seconds_, waited_seconds_, 0, team_.traffic()};
}

}  // namespace isobar::parallel
