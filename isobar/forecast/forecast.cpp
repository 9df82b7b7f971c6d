#include "isobar/forecast/forecast.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/parallel/strategy.hpp"

namespace isobar::forecast {
namespace {

double global_batch(const Sweep& sweep) { return 1.0 * sweep.base.workload.batch * std::ranges::min(sweep.ranks); }

double batch_of(const Sweep& sweep, Mode mode, int ranks) {
  return mode == Mode::weak ? sweep.base.workload.batch : global_batch(sweep) / ranks;
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
  for (const Spec& strategy : sweep.strategies) make(parallel::strategies(), strategy, "strategy");
}

}  // namespace

const char* mode_name(Mode mode) { return mode == Mode::weak ? "weak" : "strong"; }

sim::Scenario scenario_of(const Sweep& sweep, Mode mode, const Spec& strategy, int ranks) {
  sim::Scenario scenario = sweep.base;
  scenario.strategy = strategy;
  scenario.ranks = ranks;
  // All others are compared with this rank, so it has no noise: the mean of noise is 1, but a few steps of one rank
  // would not show that.
  if (ranks == 1) scenario.without.noise = true;
  if (mode == Mode::strong) scenario.workload = with_batch(sweep.base.workload, batch_of(sweep, mode, ranks));
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
      const int first = mode == Mode::weak ? 1 : *std::ranges::min_element(sweep.ranks);
      const std::size_t reference = scenarios.size();
      scenarios.push_back(scenario_of(sweep, mode, strategy, first));
      for (const int ranks : sweep.ranks) {
        const double batch = batch_of(sweep, mode, ranks);
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
    if (row.mode == Mode::strong) ideal *= 1.0 * scenarios[reference].ranks / row.ranks;
    row.samples_per_second = row.batch * row.ranks / seconds;
    row.flops_per_second = row.samples_per_second * sweep.base.workload.flops / sweep.base.workload.batch;
    row.efficiency = ideal / seconds;
    result.rows.push_back(std::move(row));
  }
  return result;
}

}  // namespace isobar::forecast
