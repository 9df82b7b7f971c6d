#include "isobar/forecast/forecast.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::forecast {
namespace {

int replicas_of(sim::Scenario scenario, const Spec& strategy, int ranks) {
  scenario.strategy = strategy;
  scenario.ranks = ranks;
  return sim::replicas(scenario);
}
int replicas_of(const Sweep& sweep, const Spec& strategy, int ranks) {
  return replicas_of(sweep.base, strategy, ranks);
}

// Why these ranks cannot train so; empty: they can.
std::string impossible(const sim::Scenario& scenario, const Spec& strategy, int ranks) {
  try {
    replicas_of(scenario, strategy, ranks);
    return {};
  } catch (const UsageError& error) {
    return error.what();
  }
}
std::string impossible(const Sweep& sweep, const Spec& strategy, int ranks) {
  return impossible(sweep.base, strategy, ranks);
}

// What is compared with others: a replica by itself, which exchanges nothing.
int fewest_ranks(const Sweep& sweep) { return sweep.base.ways(); }

double global_batch(const Sweep& sweep) { return 1.0 * sweep.base.workload.batch * std::ranges::min(sweep.ranks); }

// In strong scaling the fewest ranks have as much as if all of them trained.
double batch_of(const Sweep& sweep, Mode mode, const Spec& strategy, int ranks) {
  if (mode == Mode::weak) return sweep.base.workload.batch;
  return global_batch(sweep) / sweep.base.ways() / replicas_of(sweep, strategy, ranks);
}

void check(const Sweep& sweep) {
  if (sweep.ranks.empty()) fail_usage("forecast: for how many ranks? (--ranks 1,64,1024)");
  if (sweep.strategies.empty()) fail_usage("forecast: with which strategy? (--strategy sync)");
  const int on_node = sweep.base.on_node();
  const std::int64_t most = std::int64_t{1} * sweep.base.platform.nodes * on_node;
  for (const int ranks : sweep.ranks) {
    if (ranks < 1) fail_usage("forecast: {} ranks; at least 1", ranks);
    if (ranks > most)
      fail_usage("forecast: {} ranks, but '{}' has {} nodes with {} rank{} each: at most {}", with_commas(ranks),
                 sweep.base.platform.name, with_commas(sweep.base.platform.nodes), on_node, on_node == 1 ? "" : "s",
                 with_commas(most));
  }
  for (const Spec& strategy : sweep.strategies) {
    make(parallel::strategies(), strategy, "strategy");
    const int most_asked = std::ranges::max(sweep.ranks);
    if (const std::string why = impossible(sweep, strategy, most_asked); !why.empty())
      if (std::ranges::all_of(sweep.ranks, [&](int n) { return !impossible(sweep, strategy, n).empty(); }))
        fail_usage("forecast: {}", why);
  }
}

// Of the numbers of ranks in the sweep.
int fewest_possible(const Sweep& sweep, const Spec& strategy) {
  int fewest = std::ranges::max(sweep.ranks);
  for (const int ranks : sweep.ranks)
    if (ranks < fewest && impossible(sweep, strategy, ranks).empty()) fewest = ranks;
  return fewest;
}

double flops_of_replica(const sim::Scenario& scenario) {
  double flops = 0;
  for (int part = 0; part < scenario.ways(); ++part) flops += scenario.part(part).flops;
  return flops;
}

}  // namespace

Spec strategy_alone(const sim::Scenario& alone, const Spec& strategy) {
  return impossible(alone, strategy, alone.ranks).empty() ? strategy : Spec("sync");
}

std::string without_shares(const std::string& summary) {
  const std::size_t who = summary.find("; ");
  return who == std::string::npos ? summary : summary.substr(who + 2);
}

const char* mode_name(Mode mode) { return mode == Mode::weak ? "weak" : "strong"; }

sim::Scenario scenario_of(const Sweep& sweep, Mode mode, const Spec& strategy, int ranks) {
  sim::Scenario scenario = sweep.base;
  scenario.strategy = strategy;
  scenario.ranks = ranks;
  // All others are compared with this rank, so it has no noise: the mean of noise is 1, but a few steps of one rank
  // would not show that.
  if (ranks == fewest_ranks(sweep)) scenario.without.noise = true;
  if (mode == Mode::strong) {
    const double batch = batch_of(sweep, mode, strategy, ranks);
    scenario.change_parts([&](const sim::Workload& part) { return with_batch(part, batch); });
  }
  return scenario;
}

Forecast forecast(const Sweep& sweep, ScenarioRunner& runner) {
  check(sweep);
  Forecast result{.sweep = sweep};
  struct Asked {
    ForecastRow row;
    std::size_t scenario, reference;  // which scenario it is, and with which it is compared
  };
  std::vector<Asked> asked;
  std::vector<sim::Scenario> scenarios;
  for (const Mode mode : sweep.modes)
    for (const Spec& strategy : sweep.strategies) {
      const int first = mode == Mode::weak ? fewest_ranks(sweep) : fewest_possible(sweep, strategy);
      const std::size_t reference = scenarios.size();
      sim::Scenario alone = sweep.base;
      alone.ranks = first;
      const Spec compared = mode == Mode::weak ? strategy_alone(alone, strategy) : strategy;
      scenarios.push_back(scenario_of(sweep, mode, compared, first));
      for (const int ranks : sweep.ranks) {
        if (const std::string why = impossible(sweep, strategy, ranks); !why.empty()) {
          result.notes.push_back(fmt::format("{} on {} rank{} is left out: {}", strategy.str(), with_commas(ranks),
                                             ranks == 1 ? "" : "s", why));
          continue;
        }
        const double batch = batch_of(sweep, mode, strategy, ranks);
        if (batch < 1) {
          const std::string note =
              fmt::format("strong scaling on {} ranks is left out: they would share {:g} samples, less than one each",
                          with_commas(ranks), global_batch(sweep));
          if (!std::ranges::count(result.notes, note)) result.notes.push_back(note);
          continue;
        }
        asked.push_back({{mode, strategy, ranks, batch}, scenarios.size(), reference});
        scenarios.push_back(scenario_of(sweep, mode, strategy, ranks));
      }
    }
  const std::vector<sim::Simulated> simulated = runner.run(scenarios);
  for (auto& [row, scenario, reference] : asked) {
    row.simulated = simulated[scenario];
    const double seconds = row.simulated.step_seconds;
    double ideal = simulated[reference].step_seconds;
    // Ranks that serve count as well: what they might have trained is lost.
    const int replicas = replicas_of(sweep, row.strategy, row.ranks);
    const double all = 1.0 * row.ranks / sweep.base.ways();
    if (row.mode == Mode::strong) ideal *= 1.0 * scenarios[reference].ranks / row.ranks;
    else ideal *= replicas / all;
    row.samples_per_second = row.batch * replicas / seconds;
    row.flops_per_second = row.samples_per_second * flops_of_replica(sweep.base) / sweep.base.workload.batch;
    row.efficiency = ideal / seconds;
    if (const std::string& summary = row.simulated.summary; !summary.empty())
      result.notes.push_back(
          fmt::format("{} on {} ranks: {}", row.strategy.str(), with_commas(row.ranks), without_shares(summary)));
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace isobar::forecast
