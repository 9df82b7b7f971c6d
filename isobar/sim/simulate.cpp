#include "isobar/sim/simulate.hpp"

#include <algorithm>
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include "isobar/base/clock.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"
#include "isobar/sim/input.hpp"
#include "isobar/sim/lockstep.hpp"
#include "isobar/sim/rank_work.hpp"
#include "isobar/sim/team_actor.hpp"

namespace isobar::sim {
namespace {

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

std::vector<parallel::Placement> ranks_of(const Scenario& scenario) {
  return parallel::place(scenario.ways(), *strategy_of(scenario), scenario.ranks);
}

std::vector<const Workload*> parts_of(const Scenario& scenario) {
  std::vector<const Workload*> parts;
  for (int p = 0; p < scenario.ways(); ++p) parts.push_back(&scenario.part(p));
  return parts;
}

bool trains(const parallel::Placement& rank) { return rank.role == parallel::Roles::Role::trains; }

// Whether all ranks go together, so that their code needs to run once only.
bool in_lockstep(const Scenario& scenario, std::span<const parallel::Placement> ranks) {
  return std::ranges::all_of(ranks, trains) && ranks[0].teams == 1 && go_together(parts_of(scenario), ranks);
}

// Whether the ranks of every team do, and there are teams of several.
bool teams_in_lockstep(const Scenario& scenario, std::span<const parallel::Placement> ranks) {
  std::size_t largest = 1;
  for (const parallel::Placement& rank : ranks) {
    if (!trains(rank)) continue;
    if (!in_one_row(team_of(rank))) return false;
    largest = std::max(largest, team_of(rank).size());
  }
  const std::vector<int>& team = team_of(*std::ranges::find_if(ranks, trains));
  return largest > 1 && go_together(parts_of(scenario), ranks.subspan(team[0], team.size()), team[0]);
}

// What a simulation has to be given, made once for all that is left out in turn.
struct Stage {
  explicit Stage(const Scenario& scenario)
      : placement(placement_of(scenario)),
        ranks(ranks_of(scenario)),
        parts(parts_of(scenario)),
        lockstep(in_lockstep(scenario, ranks)),
        teams_as_one(!lockstep && wants_teams(scenario) && teams_in_lockstep(scenario, ranks)),
        topology(scenario.platform, placement.nodes(), !lockstep && scenario.without.contention),
        costs(topology, scenario.platform, placement) {
    if (scenario.detail == Detail::rounds && !lockstep && !teams_as_one && trainers() > ranks[0].teams)
      fail_usage(
          "simulation by rounds: ranks of a team do different things, or are not one behind the other, with strategy "
          "'{}'; flows can simulate that",
          scenario.strategy.str());
  }

  // Who takes steps, each in an actor.
  int trainers() const { return teams_as_one ? ranks[0].teams : ranks[0].shares * static_cast<int>(parts.size()); }
  static bool wants_teams(const Scenario& scenario) {
    return scenario.detail == Detail::rounds ||
           (scenario.detail == Detail::automatic && scenario.ranks > most_flow_ranks);
  }

  RankNodes placement;
  std::vector<parallel::Placement> ranks;
  std::vector<const Workload*> parts;  // of the scenario this was made from
  bool lockstep, teams_as_one;
  Topology topology;
  SumCosts costs;
};

double read_seconds_of(const Scenario& scenario, const RankNodes& placement) {
  double bytes = 0;  // of the part that reads most
  for (const Workload* part : parts_of(scenario)) bytes = std::max(bytes, part->sample_bytes * part->batch);
  const double seconds =
      read_seconds(scenario.platform, scenario.input, placement.ranks, placement.ranks_per_node, bytes);
  return scenario.without.input ? 0 : seconds;
}

Simulated by_rounds(const Scenario& scenario, Stage& stage) {
  const Noise noise(scenario.platform.noise, scenario.seed, !scenario.without.noise);
  const double per_byte = scenario.without.bandwidth ? 0 : scenario.platform.network.core_seconds_per_byte;
  Lockstep ranks({.placement = stage.placement,
                  .ranks = stage.ranks,
                  .parts = stage.parts,
                  .noise = noise,
                  .read_seconds = read_seconds_of(scenario, stage.placement),
                  .core_seconds_per_byte = per_byte,
                  .without = scenario.without},
                 stage.costs);
  const auto comm = ranks.comm();
  StepTotals totals(1, scenario.steps);
  do_work(scenario, stage.ranks[0], stage.parts, scenario.steps, *comm, ranks, ranks.waited_for_input(), totals);
  Simulated result = totals.means(1);
  result.detail = "rounds";
  return result;
}

Simulated by_flows(const Scenario& scenario, Stage& stage, int steps) {
  const Noise noise(scenario.platform.noise, scenario.seed, !scenario.without.noise);
  StepTotals totals(stage.ranks[0].teams, steps);
  const FlowOptions options{.without = scenario.without,
                            .read_seconds = read_seconds_of(scenario, stage.placement),
                            .ranks = stage.ranks,
                            .teams_as_one = stage.teams_as_one,
                            .parts = stage.parts};
  run_flows(stage.topology, scenario.platform, stage.placement, noise, stage.costs, options, [&](const FlowRank& rank) {
    const parallel::Placement& placed = stage.ranks[rank.rank];
    const auto part = std::span(stage.parts).subspan(placed.part, 1);
    do_work(scenario, placed, stage.teams_as_one ? std::span(stage.parts) : part, steps, rank.comm, rank.timeline,
            rank.waited_for_input, totals);
  });
  Simulated result = totals.means(stage.trainers());
  result.detail = stage.teams_as_one ? "teams" : "flows";
  return result;
}

// How many steps flows can afford, if a rank that trains sends so many messages in one.
int affordable_steps(const Scenario& scenario, double messages) {
  const double steps = most_flow_messages / std::max(1.0, messages * scenario.ranks) - warm_steps;
  return steps < fewest_flow_steps ? 0 : static_cast<int>(std::min<double>(steps, scenario.steps));
}

// What a step costs is seen from rounds.
int flow_steps(const Scenario& scenario, const Simulated& rounds) {
  if (scenario.detail == Detail::flows) return scenario.steps;
  if (scenario.detail == Detail::rounds || scenario.ranks > most_flow_ranks) return 0;
  return affordable_steps(scenario, rounds.sent_messages);
}

// One cause after the other is left out; what a step is faster without it, it had cost. What is left is computing, and
// what a strategy copies.
void break_up(Simulated& result, double with_all, const std::function<double(const Without&)>& step_seconds) {
  Without without;
  double last = with_all;
  const auto lost = [&](bool Without::*what) {
    without.*what = true;
    const double seconds = step_seconds(without);
    return std::max(0.0, std::exchange(last, seconds) - seconds);
  };
  Losses& losses = result.losses;
  losses.stragglers = lost(&Without::noise);
  losses.input = lost(&Without::input);
  losses.contention = lost(&Without::contention);
  losses.latency = lost(&Without::latency);
  losses.bandwidth = lost(&Without::bandwidth);
  result.compute_seconds = last;
  // Flows see the same causes as rounds and come to nearly the same time.
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
  scenario.change_parts([&](const Workload& part) { return part.times(turns); });
  scenario.platform.network.core_seconds_per_byte *= turns;
  return scenario;
}

// Where ranks do different things, or at their own pace, there are no rounds to look at first: a worker sends to its
// servers and hears from them.
Simulated only_by_flows(const Scenario& scenario, Stage& stage) {
  std::vector<exec::GradientPlace> places;
  std::vector<std::string> names;
  std::size_t numbers = 0;
  for (const WorkloadParameter& each : scenario.workload.parameters) {
    places.push_back({numbers, each.count, each.trained});
    names.push_back(each.name);
    numbers += each.count;
  }
  const int team = std::ssize(stage.ranks[0].circles.front().ranks);
  const parallel::PlannedRank first{.circle = {.rank = 0, .size = team, .nodes = std::vector<int>(team)},
                                    .places = places,
                                    .gradients = numbers,
                                    .names = names,
                                    .teams = stage.ranks[0].teams};
  const double messages = 2.0 * strategy_of(scenario)->needs(first).traffic.messages;
  const int steps = scenario.detail == Detail::flows ? scenario.steps : affordable_steps(scenario, messages);
  return by_flows(scenario, stage, std::max(steps, fewest_flow_steps));
}

double compute_seconds(const Stage& stage) {
  double most = 0;
  for (const Workload* part : stage.parts) most = std::max(most, part->compute_seconds());
  return most;
}

Simulated simulated(const Scenario& asked, bool with_losses) {
  const double begun = now_seconds();
  const Scenario scenario = slowed(asked);
  Stage stage(scenario);
  Simulated result;
  double by_rounds_with_all = 0;
  if (stage.lockstep) {
    result = by_rounds(scenario, stage);
    by_rounds_with_all = result.step_seconds;
    if (const int steps = flow_steps(scenario, result); steps > 0) result = by_flows(scenario, stage, steps);
  } else {
    result = only_by_flows(scenario, stage);
  }
  result.compute_seconds = compute_seconds(stage);
  if (with_losses && stage.lockstep)
    break_up(result, by_rounds_with_all, [&](const Without& without) {
      Scenario less = scenario;
      less.without = without;
      return by_rounds(less, stage).step_seconds;
    });
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  result.peak_bytes = 1024.0 * used.ru_maxrss;
  result.real_seconds = now_seconds() - begun;
  return result;
}

Simulated in_own_process(const Scenario& scenario, bool with_losses) {
  expects(scenario.steps >= 1, "at least one step");
  read_seconds_of(scenario, placement_of(scenario));
  ranks_of(scenario);
  const std::string text = in_child([&] {
    const Simulated result = simulated(scenario, with_losses);
    nlohmann::json json{{"strategy", result.strategy}, {"summary", result.summary}, {"detail", result.detail}};
    const auto put = [&](const char* name, double value) { json[name] = value; };
    each_number(result, put), each_loss(result.losses, put);
    return json.dump();
  });
  const auto json = nlohmann::json::parse(text);
  Simulated result{.strategy = json.at("strategy"), .summary = json.at("summary"), .detail = json.at("detail")};
  const auto get = [&](const char* name, double& value) { value = json.at(name); };
  each_number(result, get), each_loss(result.losses, get);
  return result;
}

}  // namespace

int replicas(const Scenario& scenario) { return ranks_of(scenario)[0].shares; }

Simulated simulate(const Scenario& scenario) { return in_own_process(scenario, false); }

// Without rounds, what is left out is left out of flows: each in a process of its own.
Simulated simulate_losses(const Scenario& scenario) {
  if (in_lockstep(scenario, ranks_of(scenario))) return in_own_process(scenario, true);
  Simulated result = in_own_process(scenario, false);
  break_up(result, result.step_seconds, [&](const Without& without) {
    Scenario less = scenario;
    less.without = without;
    return in_own_process(less, false).step_seconds;
  });
  return result;
}

}  // namespace isobar::sim
