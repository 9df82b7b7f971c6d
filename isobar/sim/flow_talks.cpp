#include "isobar/sim/flow_talks.hpp"

#include <algorithm>

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

// Only how many bytes they take is of account.
comm::Numbers numbers_of(const ops::Talk& talk) {
  if (talk.type == ops::Talk::Type::doubles) return std::span<double>();
  return std::span<float>();
}

}  // namespace

FlowTalks::~FlowTalks() {
  if (std::uncaught_exceptions() > 0) return;  // all actors are about to be ended
  for (const auto& [number, done] : under_way_) done->acquire();
}

FlowWalk& FlowTalks::walk_in(const std::string& name) {
  auto& walk = walks_[name];
  if (walk) return *walk;
  const std::vector<comm::Circle>& circles = world_.options.ranks[rank_].circles;
  const auto found = std::ranges::find(circles, name, &comm::Circle::name);
  if (found == circles.end()) fail_usage("workload: messages in the circle '{}', which rank {} is not in", name, rank_);
  const auto mine = std::ranges::find(found->ranks, rank_) - found->ranks.begin();
  walk = std::make_unique<FlowWalk>(world_, found->ranks, static_cast<int>(mine), "t-" + name);
  return *walk;
}

void FlowTalks::talk(const ops::Talk& talk) {
  if (talk.phase == ops::Talk::Phase::start) {
    FlowWalk& walk = walk_in(talk.circle);
    const comm::Numbers numbers = numbers_of(talk);
    if (!world_.options.without.bandwidth)
      walk.core().owe(walk.bytes_sent(talk.moves, numbers) * world_.platform.network.core_seconds_per_byte);
    const auto done = s4u::Semaphore::create(0);
    expects(under_way_.emplace(std::pair(talk.circle, talk.number), done).second,
            "messages that have ended before they begin again");
    s4u::Actor::create("talk", s4u::this_actor::get_host(), [&walk, &talk, numbers, done] {
      walk.walk(talk.moves, talk.number, numbers);
      done->release();
    });
    return;
  }
  const auto found = under_way_.find({talk.circle, talk.number});
  expects(found != under_way_.end(), "messages that have begun");
  const double begun = s4u::Engine::get_clock();
  found->second->acquire();
  under_way_.erase(found);
  waited_seconds_ += s4u::Engine::get_clock() - begun;
  world_.cores[rank_].wait(s4u::Engine::get_clock() - begun);
}

comm::ExchangeCost FlowTalks::cost() const {
  comm::ExchangeCost cost{.waited_seconds = waited_seconds_};
  for (const auto& [circle, walk] : walks_) cost.traffic += walk->traffic();
  return cost;
}

}  // namespace isobar::sim
