#include "isobar/forecast/published.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "isobar/base/text.hpp"
#include "isobar/forecast/forecast.hpp"
#include "isobar/forecast/stretches.hpp"
#include "isobar/forecast/workload_of_plan.hpp"

namespace isobar::forecast {
namespace {

sim::Workload workload_of(const PublishedCase& c, const PublishedNetwork& network, const sim::Platform& platform) {
  const double rank = c.rank_gflops > 0 ? c.rank_gflops * 1e9 : platform.node.flops_per_second / platform.node.ranks;
  return workload_of_model(std::string(network.model), std::llround(network.batch),
                           {rank, platform.node.memory_bytes_per_second}, c.sample_gflops * 1e9);
}

std::vector<PublishedNetwork> networks_of(const PublishedCase& c) {
  std::vector<PublishedNetwork> all{{c.model, c.batch}};
  all.insert(all.end(), c.others.begin(), c.others.end());
  return all;
}

bool contains(std::string_view text, std::string_view part) {
  return lower_case(text).find(lower_case(part)) != std::string::npos;
}

}  // namespace

std::vector<PublishedRow> forecast_published(std::string_view match, ScenarioRunner& runner,
                                             std::span<const PublishedCase> cases) {
  std::vector<PublishedRow> rows;
  std::vector<sim::Scenario> scenarios;  // for every network of a row: the reference, then the case itself
  std::map<std::string, sim::Workload> planned;
  for (const PublishedCase& c : cases) {
    if (!contains(c.system, match) && !contains(c.model, match)) continue;
    PublishedRow row{.of = &c};
    for (const PublishedNetwork& network : networks_of(c)) {
      sim::Scenario scenario;
      scenario.platform = sim::read_platform(std::string(c.platform));
      const std::string key =
          fmt::format("{} {} {} {} {}", network.model, c.platform, network.batch, c.rank_gflops, c.sample_gflops);
      if (!planned.contains(key)) planned[key] = workload_of(c, network, scenario.platform);
      scenario.workload = planned[key];
      scenario.input = c.input;
      scenario.steps = 8;  // enough for thousands of ranks, over which noise is averaged
      scenario.ranks = 1;
      scenario.strategy = strategy_alone(scenario, Spec(c.strategy));
      scenario.without.noise = true;
      scenarios.push_back(scenario);
      scenario.ranks = c.ranks;
      scenario.strategy = Spec(c.strategy);
      scenario.without.noise = false;
      if (c.strong) scenario.workload = with_batch(scenario.workload, network.batch / c.ranks);
      scenarios.push_back(std::move(scenario));
    }
    rows.push_back(row);
  }
  if (rows.empty()) fail_usage("published: no row matches '{}'; without --match all are shown", match);
  const std::vector<sim::Simulated> simulated = runner.run(scenarios);
  std::size_t at = 0;
  for (PublishedRow& row : rows) {
    row.simulated = simulated[at + 1];
    const std::size_t networks = 1 + row.of->others.size();
    for (std::size_t n = 0; n < networks; ++n, at += 2) {
      const double one = simulated[at].step_seconds, step = simulated[at + 1].step_seconds;
      // Ranks that serve count as well: what they might have trained is lost.
      const double training = 1.0 * sim::replicas(scenarios[at + 1]) / row.of->ranks;
      row.efficiency += training * one / step / (row.of->strong ? row.of->ranks : 1) / networks;
    }
  }
  return rows;
}

double mean_points(std::span<const PublishedRow> rows) {
  double sum = 0;
  for (const PublishedRow& row : rows) sum += std::abs(row.points());
  return rows.empty() ? 0 : sum / rows.size();
}

std::string published_text(std::span<const PublishedRow> rows) {
  std::string text = fmt::format("{:<38} {:<34} {:>6} {:>10} {:>9} {:>7} {:>10}\n", "system", "workload", "mode",
                                 "published", "forecast", "points", "ms/step");
  for (const PublishedRow& row : rows) {
    const PublishedCase& c = *row.of;
    text += fmt::format("{:<38} {:<34} {:>6} {:>8.1f} % {:>7.1f} % {:>+7.1f} {:>10.1f}\n", c.system,
                        fmt::format("{}, batch {:g}{}", c.model, c.batch, c.others.empty() ? "" : ", ..."),
                        c.strong ? "strong" : "weak", 100 * c.efficiency, 100 * row.efficiency, row.points(),
                        row.simulated.step_seconds * 1e3);
    text += fmt::format("    {}; {}\n", c.strategy, c.source);
    if (!c.others.empty()) {
      text += "    the mean with";
      for (const PublishedNetwork& other : c.others)
        text += fmt::format("{} {} (batch {:g})", &other == &c.others[0] ? "" : ",", other.model, other.batch);
      text += "; ms/step is of the first\n";
    }
    if (!row.simulated.summary.empty()) text += fmt::format("    {}\n", without_shares(row.simulated.summary));
  }
  return text + fmt::format(
                    "mean absolute error: {:.1f} points over {} rows\nthis is not a blind test: what platforms and "
                    "rows assume was revised after a first comparison (docs/forecast.md)\n",
                    mean_points(rows), rows.size());
}

std::string published_csv(std::span<const PublishedRow> rows) {
  std::string text = "system,platform,model,batch,ranks,mode,strategy,published,forecast,points,step_seconds,source\n";
  for (const PublishedRow& row : rows) {
    const PublishedCase& c = *row.of;
    text += fmt::format("\"{}\",{},\"{}\",{:g},{},{},\"{}\",{:.4g},{:.4g},{:.3g},{:.6g},\"{}\"\n", c.system, c.platform,
                        c.model, c.batch, c.ranks, c.strong ? "strong" : "weak", c.strategy, c.efficiency,
                        row.efficiency, row.points(), row.simulated.step_seconds, c.source);
  }
  return text;
}

}  // namespace isobar::forecast
