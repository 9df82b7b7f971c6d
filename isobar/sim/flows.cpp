#include "isobar/sim/flows.hpp"

#include "isobar/sim/flow_talks.hpp"
#include "isobar/sim/input.hpp"
#include "isobar/sim/team_actor.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

class FlowTimeline final : public Timeline {
 public:
  FlowTimeline(FlowWorld& world, int rank, const Noise& noise)
      : rank_(rank),
        noise_(noise),
        loader_(world.options.read_seconds),
        core_(world.cores[rank]),
        talks_(world, rank) {}

  void begin_step(std::int64_t step) override {
    const double before = now();
    const double ready = loader_.ready(before);
    waited_for_input += ready - before;
    s4u::this_actor::sleep_for(ready - before + noise_.delay(step, rank_));
    factor_ = noise_.factor(step, rank_);
  }
  void compute(double seconds) override { s4u::this_actor::sleep_for(core_.compute(seconds * factor_)); }
  void talk(const ops::Talk& talk) override { talks_.talk(talk); }
  comm::ExchangeCost talk_cost() const override { return talks_.cost(); }
  double now() const override { return s4u::Engine::get_clock(); }

  double waited_for_input = 0;

 private:
  int rank_;
  const Noise& noise_;
  ReadAhead loader_;
  SharedCore& core_;
  double factor_ = 1;
  FlowTalks talks_;
};

// Not if another rank is the first of its team.
bool has_an_actor(const FlowOptions& options, int rank) {
  if (!options.teams_as_one) return true;
  const parallel::Placement& placed = options.ranks[rank];
  return placed.role != parallel::Roles::Role::trains || team_of(placed).front() == rank;
}

void act(FlowWorld& world, int rank, const Noise& noise, const std::function<void(FlowRank)>& work) {
  const FlowOptions& options = world.options;
  if (options.teams_as_one && options.ranks[rank].role == parallel::Roles::Role::trains) {
    TeamActor team(world, rank, noise);
    return work({rank, team.world_comm(), team.ranks(), team.ranks().waited_for_input()});
  }
  const auto comm = flow_comm(world, rank);
  FlowTimeline timeline(world, rank, noise);
  work({rank, *comm, timeline, timeline.waited_for_input});
}

}  // namespace

void run_flows(const Topology& topology, const Platform& platform, const RankNodes& placement, const Noise& noise,
               SumCosts& costs, const FlowOptions& options, const std::function<void(FlowRank)>& work) {
  expects(options.without.contention == topology.without_contention(), "flows that meet where links are shared");
  FlowWorld world{topology, platform, placement, costs, options};
  world.cores.resize(placement.ranks);
  world.bells.resize(placement.ranks);
  for (int rank = 0; rank < placement.ranks; ++rank) {
    if (!has_an_actor(options, rank)) continue;
    s4u::Actor::create("rank", topology.host(placement.node_of(rank)), [&, rank] {
      try {
        act(world, rank, noise, work);
      } catch (const std::exception&) {  // SimGrid's own way to end an actor is no std::exception
        if (!world.error) world.error = std::current_exception();
        s4u::Actor::kill_all();
      }
    });
  }
  s4u::Engine::get_instance()->run();
  if (world.error) std::rethrow_exception(world.error);
}

}  // namespace isobar::sim
