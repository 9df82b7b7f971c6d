#include "isobar/sim/flows.hpp"

#include "isobar/sim/flow_world.hpp"
#include "isobar/sim/input.hpp"

namespace isobar::sim {
namespace {

namespace s4u = simgrid::s4u;

class FlowTimeline final : public Timeline {
 public:
  FlowTimeline(int rank, const Noise& noise, double read_seconds, SharedCore& core)
      : rank_(rank), noise_(noise), loader_(read_seconds), core_(core) {}

  void begin_step(std::int64_t step) override {
    const double before = now();
    const double ready = loader_.ready(before);
    waited_for_input += ready - before;
    s4u::this_actor::sleep_for(ready - before + noise_.delay(step, rank_));
    factor_ = noise_.factor(step, rank_);
  }
  void compute(double seconds) override { s4u::this_actor::sleep_for(core_.compute(seconds * factor_)); }
  double now() const override { return s4u::Engine::get_clock(); }

  double waited_for_input = 0;

 private:
  int rank_;
  const Noise& noise_;
  ReadAhead loader_;
  SharedCore& core_;
  double factor_ = 1;
};

}  // namespace

void run_flows(const Topology& topology, const Platform& platform, const RankNodes& placement, const Noise& noise,
               SumCosts& costs, const FlowOptions& options, const std::function<void(FlowRank)>& work) {
  expects(!options.without.contention, "flows that meet");
  FlowWorld world{topology, platform, placement, costs, options};
  world.cores.resize(placement.ranks);
  for (int rank = 0; rank < placement.ranks; ++rank)
    s4u::Actor::create("rank", topology.host(placement.node_of(rank)), [&, rank] {
      try {
        const auto comm = flow_comm(world, rank);
        FlowTimeline timeline(rank, noise, options.read_seconds, world.cores[rank]);
        work({rank, *comm, timeline, timeline.waited_for_input});
      } catch (const std::exception&) {  // SimGrid's own way to end an actor is no std::exception
        if (!world.error) world.error = std::current_exception();
        s4u::Actor::kill_all();
      }
    });
  s4u::Engine::get_instance()->run();
  if (world.error) std::rethrow_exception(world.error);
}

}  // namespace isobar::sim
