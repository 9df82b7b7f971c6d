#include "isobar/sim/rank_work.hpp"

namespace isobar::sim {

std::unique_ptr<parallel::Strategy> strategy_of(const Scenario& scenario) {
  auto strategy = make(parallel::strategies(), scenario.strategy, "strategy");
  if (!strategy->traits().by_layer) return strategy;
  std::vector<std::string> trained;
  for (const WorkloadParameter& parameter : scenario.workload.parameters)
    if (parameter.trained) trained.push_back(parameter.name);
  parallel::tell_layers(*strategy, trained);
  return strategy;
}

void StepTotals::end(int team, double now, const Spent& before, const Spent& after) {
  teams_[team].ended = std::max(teams_[team].ended, now);
  spent_.exchange += after.exchange - before.exchange;
  spent_.talk += after.talk - before.talk;
  spent_.input += after.input - before.input;
}

void StepTotals::told(const parallel::Strategy& strategy) {
  described_ = strategy.describe();
  if (const std::string text = strategy.summary(); !text.empty()) summary_ = text;
}

// Teams that go at their own pace take so many steps together as the sum of their rates says.
Simulated StepTotals::means(double ranks) const {
  double rates = 0;
  for (const Team& team : teams_) rates += steps_ / (team.ended - team.begun);
  const double each = 1.0 / (steps_ * ranks);
  return {.step_seconds = std::ssize(teams_) / rates,
          .exposed_seconds = spent_.exchange.waited_seconds * each,
          .exchange_seconds = spent_.exchange.busy_seconds * each,
          .talk_seconds = spent_.talk.waited_seconds * each,
          .input_seconds = spent_.input * each,
          .sent_messages = (spent_.exchange.traffic.messages + spent_.talk.traffic.messages) * each,
          .sent_bytes = (spent_.exchange.traffic.bytes + spent_.talk.traffic.bytes) * each,
          .strategy = described_,
          .summary = summary_};
}

void do_work(const Scenario& scenario, const parallel::Placement& placement, std::span<const Workload* const> parts,
             int steps, comm::Comm& comm, Timeline& timeline, const double& waited_for_input, StepTotals& totals) {
  const auto strategy = strategy_of(scenario);
  const std::size_t numbers = parts[0]->gradient_numbers();
  std::span<float> memory = strategy->open(comm, numbers, {.whole = false, .finite = false});
  const double rate = scenario.platform.node.memory_bytes_per_second;
  if (placement.role == parallel::Roles::Role::serves) return serve(*strategy, *parts[0], rate, timeline);
  std::unique_ptr<comm::GradientMemory> own;
  if (memory.empty()) {
    own = comm::message_memory(comm, numbers);
    memory = own->mine();
  }
  ReplayedReplica replica(parts, memory, rate, timeline);
  const auto spent = [&]() -> StepTotals::Spent { return {strategy->cost(), timeline.talk_cost(), waited_for_input}; };
  StepTotals::Spent before;
  take_steps(*strategy, replica, timeline, parts[0]->batch, warm_steps + steps, [&](int step) {
    if (step == warm_steps) {
      totals.begin(placement.team, timeline.now());
      before = spent();
    }
    if (step == warm_steps + steps) totals.end(placement.team, timeline.now(), before, spent());
  });
  totals.told(*strategy);
}

}  // namespace isobar::sim
