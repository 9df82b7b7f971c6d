#include "isobar/sim/simulate.hpp"

#include <algorithm>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"
#include "isobar/sim/input.hpp"
#include "isobar/sim/lockstep.hpp"

namespace isobar::sim {
namespace {

constexpr int warm_steps = 2;
constexpr int most_flow_ranks = 1024, fewest_flow_steps = 3;
constexpr double most_flow_messages = 1.5e6;  // some microseconds each

RankNodes placement_of(const Scenario& scenario) {
  const Platform& platform = scenario.platform;
  const RankNodes placement{scenario.ranks, scenario.on_node()};
  if (scenario.ranks < 1) fail_usage("simulation: {} ranks; there must be at least one", scenario.ranks);
  if (placement.nodes() > platform.nodes)
    fail_usage("simulation: {} ranks, {} on a node, need {} nodes; platform '{}' has {}", scenario.ranks,
               placement.ranks_per_node, placement.nodes(), platform.name, platform.nodes);
  return placement;
}

// A step of one rank after the other, of the time since it began.
struct Progress {
  double begun = 0, ended = 0;  // the last rank: when the steps began that count, and ended
  double exposed = 0, busy = 0, input = 0;
  comm::Traffic traffic{};
  std::string described{};  // what the strategy says it does
};

std::unique_ptr<parallel::Strategy> strategy_of(const Scenario& scenario) {
  return make(parallel::strategies(), scenario.strategy, "strategy");
}

// What strategy, replica and clock of one rank, or of all as one, do.
void train(const Scenario& scenario, int steps, comm::Comm& comm, Timeline& timeline, const double& waited_for_input,
           Progress& progress) {
  const auto strategy = strategy_of(scenario);
  const std::size_t numbers = scenario.workload.gradient_numbers();
  std::span<float> memory = strategy->open(comm, numbers, {.whole = false, .finite = false});
  std::unique_ptr<PhantomFloats> own;
  if (memory.empty()) {
    own = std::make_unique<PhantomFloats>(numbers);
    memory = own->all();
  }
  ReplayedReplica replica(scenario.workload, memory, scenario.platform.node.memory_bytes_per_second, timeline);
  comm::ExchangeCost before;
  double input_before = 0;
  take_steps(*strategy, replica, timeline, scenario.workload.batch, warm_steps + steps, [&](int step) {
    if (step == warm_steps) {
      progress.begun = std::max(progress.begun, timeline.now());
      before = strategy->cost();
      input_before = waited_for_input;
    }
    if (step < warm_steps + steps) return;
    const comm::ExchangeCost cost = strategy->cost();
    progress.ended = std::max(progress.ended, timeline.now());
    progress.exposed += cost.waited_seconds - before.waited_seconds;
    progress.busy += cost.busy_seconds - before.busy_seconds;
    progress.input += waited_for_input - input_before;
    progress.traffic.messages += cost.traffic.messages - before.traffic.messages;
    progress.traffic.bytes += cost.traffic.bytes - before.traffic.bytes;
  });
  progress.described = strategy->describe();
}

Simulated summary(const Progress& progress, int steps, double ranks, const char* detail) {
  const double each = 1.0 / (steps * ranks);
  return {.step_seconds = (progress.ended - progress.begun) / steps,
          .exposed_seconds = progress.exposed * each,
          .exchange_seconds = progress.busy * each,
          .input_seconds = progress.input * each,
          .sent_messages = progress.traffic.messages * each,
          .sent_bytes = progress.traffic.bytes * each,
          .strategy = progress.described,
          .detail = detail};
}

// What a simulation has to be given, made once for all that is left out in turn.
struct Stage {
  explicit Stage(const Scenario& scenario)
      : placement(placement_of(scenario)),
        topology(scenario.platform, placement.nodes()),
        costs(topology, scenario.platform, placement) {}

  RankNodes placement;
  Topology topology;
  SumCosts costs;
};

double read_seconds_of(const Scenario& scenario, const RankNodes& placement) {
  const double bytes = scenario.workload.sample_bytes * scenario.workload.batch;
  const double seconds =
      read_seconds(scenario.platform, scenario.input, placement.ranks, placement.ranks_per_node, bytes);
  return scenario.without.input ? 0 : seconds;
}

Simulated by_rounds(const Scenario& scenario, Stage& stage) {
  const Noise noise(scenario.platform.noise, scenario.seed, !scenario.without.noise);
  Lockstep ranks(stage.placement, noise, read_seconds_of(scenario, stage.placement),
                 scenario.platform.network.core_seconds_per_byte, stage.costs, scenario.without);
  const auto comm = ranks.comm();
  Progress progress;
  train(scenario, scenario.steps, *comm, ranks, ranks.waited_for_input(), progress);
  return summary(progress, scenario.steps, 1, "rounds");
}

Simulated by_flows(const Scenario& scenario, Stage& stage, int steps) {
  const Noise noise(scenario.platform.noise, scenario.seed, !scenario.without.noise);
  Progress progress;
  run_flows(
      stage.topology, scenario.platform, stage.placement, noise, stage.costs,
      {.without = scenario.without, .read_seconds = read_seconds_of(scenario, stage.placement)},
      [&](const FlowRank& rank) { train(scenario, steps, rank.comm, rank.timeline, rank.waited_for_input, progress); });
  return summary(progress, steps, stage.placement.ranks, "flows");
}

// How many steps flows can afford: what one costs is seen from rounds.
int flow_steps(const Scenario& scenario, const Stage& stage, const Simulated& rounds) {
  if (scenario.detail == Detail::flows) return scenario.steps;
  if (scenario.detail == Detail::rounds || stage.placement.ranks > most_flow_ranks) return 0;
  const double messages = std::max(1.0, rounds.sent_messages * stage.placement.ranks);
  const double steps = most_flow_messages / messages - warm_steps;
  return steps < fewest_flow_steps ? 0 : static_cast<int>(std::min<double>(steps, scenario.steps));
}

// One cause after the other is left out; what a step is faster without it, it had cost. What is left is computing, and
// what a strategy copies.
void break_up(Simulated& result, const Scenario& scenario, Stage& stage, double by_rounds_with_all) {
  Scenario less = scenario;
  double last = by_rounds_with_all;
  const auto lost = [&](bool Without::*what) {
    less.without.*what = true;
    const double seconds = by_rounds(less, stage).step_seconds;
    return std::max(0.0, std::exchange(last, seconds) - seconds);
  };
  Losses& losses = result.losses;
  losses.stragglers = lost(&Without::noise);
  losses.input = lost(&Without::input);
  losses.contention = lost(&Without::contention);
  losses.latency = lost(&Without::latency);
  losses.bandwidth = lost(&Without::bandwidth);
  result.compute_seconds = last;
  // Flows see the same causes and come to nearly the same time: their shares are taken from rounds.
  double all = 0;
  each_loss(losses, [&](const char*, double loss) { all += loss; });
  const double scale = all > 0 ? std::max(0.0, result.step_seconds - last) / all : 0;
  each_loss(losses, [&](const char*, double& loss) { loss *= scale; });
}

// Where emulated nodes have cores together, ranks are bound to them and those of the fullest core take turns.
Scenario slowed(Scenario scenario) {
  const int cores = scenario.platform.shared_cores;
  if (cores == 0 || scenario.ranks <= cores) return scenario;
  const double turns = (scenario.ranks + cores - 1) / cores;
  scenario.workload = scenario.workload.times(turns);
  scenario.platform.network.core_seconds_per_byte *= turns;
  return scenario;
}

Simulated simulated(const Scenario& asked, bool with_losses) {
  const double begun = now_seconds();
  const Scenario scenario = slowed(asked);
  Stage stage(scenario);
  const Simulated rounds = by_rounds(scenario, stage);
  const int steps = flow_steps(scenario, stage, rounds);
  Simulated result = steps > 0 ? by_flows(scenario, stage, steps) : rounds;
  result.compute_seconds = scenario.workload.compute_seconds();
  if (with_losses) break_up(result, scenario, stage, rounds.step_seconds);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  result.peak_bytes = 1024.0 * used.ru_maxrss;
  result.real_seconds = now_seconds() - begun;
  return result;
}

Simulated in_own_process(const Scenario& scenario, bool with_losses) {
  strategy_of(scenario);
  expects(scenario.steps >= 1, "at least one step");
  read_seconds_of(scenario, placement_of(scenario));
  const std::string text = in_child([&] {
    const Simulated result = simulated(scenario, with_losses);
    nlohmann::json json{{"strategy", result.strategy}, {"detail", result.detail}};
    const auto put = [&](const char* name, double value) { json[name] = value; };
    each_number(result, put), each_loss(result.losses, put);
    return json.dump();
  });
  const auto json = nlohmann::json::parse(text);
  Simulated result{.strategy = json.at("strategy"), .detail = json.at("detail")};
  const auto get = [&](const char* name, double& value) { value = json.at(name); };
  each_number(result, get), each_loss(result.losses, get);
  return result;
}

}  // namespace

Simulated simulate(const Scenario& scenario) { return in_own_process(scenario, false); }

Simulated simulate_losses(const Scenario& scenario) { return in_own_process(scenario, true); }

}  // namespace isobar::sim
