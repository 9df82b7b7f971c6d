#include "isobar/forecast/advise.hpp"

#include <algorithm>

#include "isobar/base/text.hpp"
#include "isobar/comm/schedule.hpp"
#include "isobar/forecast/forecast_text.hpp"

namespace isobar::forecast {
namespace {

std::string answer(const Advice& advice, const ForecastRow& row) {
  return fmt::format("{} on {} ranks: {} per epoch, {:.1f} % efficiency, {:.1f} samples/s", row.strategy.str(),
                     with_commas(row.ranks), human_seconds(advice.epoch_seconds(row)), 100 * row.efficiency,
                     row.samples_per_second);
}

}  // namespace

std::vector<Spec> candidate_strategies() {
  std::vector<Spec> all;
  for (const std::string& algorithm : names(comm::all_reduces())) {
    if (algorithm == "reproducible") continue;  // chosen for reproducibility, never for speed
    all.emplace_back(fmt::format("sync(algorithm={})", algorithm));
    all.emplace_back(fmt::format("lagged(k=1, algorithm={})", algorithm));
  }
  return all;
}

double Advice::epoch_seconds(const ForecastRow& row) const {
  return (request.epoch_samples > 0 ? request.epoch_samples : 1e6) / row.samples_per_second;
}

const ForecastRow* Advice::thrifty() const {
  for (const ForecastRow& row : ranking)
    if (row.efficiency >= request.threshold) return &row;
  return nullptr;
}

Advice advise(const AdviceRequest& request, ScenarioRunner& runner) {
  if (!(request.threshold > 0 && request.threshold <= 1))
    fail_usage("advise: an efficiency of at least {}; valid is more than 0 and at most 1", request.threshold);
  Advice advice{.request = request};
  Sweep& sweep = advice.request.sweep;
  if (sweep.strategies.empty()) sweep.strategies = candidate_strategies();
  sweep.modes = {Mode::weak};
  advice.ranking = forecast(sweep, runner).rows;
  std::ranges::stable_sort(advice.ranking, std::ranges::greater(), &ForecastRow::samples_per_second);
  return advice;
}

std::string advice_text(const Advice& advice, const ForecastError& error, std::size_t most) {
  const sim::Scenario& base = advice.request.sweep.base;
  std::string text = platform_line(base) + "\n" + workload_line(base.workload) + "\n";
  text += fmt::format(
      "an epoch: {} samples{}\n\n",
      with_commas(static_cast<std::int64_t>(advice.request.epoch_samples > 0 ? advice.request.epoch_samples : 1e6)),
      advice.request.epoch_samples > 0 ? "" : ", as --samples was not given");
  std::size_t widest = 8;
  for (const ForecastRow& row : advice.ranking) widest = std::max(widest, row.strategy.str().size());
  text += fmt::format("{:>4} {:<{}} {:>7} {:>12} {:>10} {:>10} {:>11} {:>12}\n", "", "strategy", widest, "ranks",
                      "epoch", "ms/step", "efficiency", "exposed ms", "rank-hours");
  for (std::size_t i = 0; i < std::min(most, advice.ranking.size()); ++i) {
    const ForecastRow& row = advice.ranking[i];
    const double seconds = advice.epoch_seconds(row);
    text += fmt::format("{:>4} {:<{}} {:>7} {:>10.1f} s {:>10.2f} {:>9.1f}% {:>11.2f} {:>12.1f}\n", i + 1,
                        row.strategy.str(), widest, row.ranks, seconds, row.simulated.step_seconds * 1e3,
                        100 * row.efficiency, row.simulated.exposed_seconds * 1e3, seconds * row.ranks / 3600);
  }
  if (advice.ranking.size() > most) text += fmt::format("     and {} more\n", advice.ranking.size() - most);
  text += "\n";
  if (const ForecastRow* row = advice.fastest()) text += "fastest epoch: " + answer(advice, *row) + "\n";
  if (const ForecastRow* row = advice.thrifty())
    text += fmt::format("fastest with at least {:g} % efficiency: {}\n", 100 * advice.request.threshold,
                        answer(advice, *row));
  else text += fmt::format("none reaches {:g} % efficiency\n", 100 * advice.request.threshold);
  return text + "error: " + error.text + "\n";
}

std::string advice_csv(const Advice& advice) {
  std::string text = "place,strategy,ranks,epoch_seconds,step_seconds,efficiency,exposed_seconds,samples_per_second\n";
  for (std::size_t i = 0; i < advice.ranking.size(); ++i) {
    const ForecastRow& row = advice.ranking[i];
    text += fmt::format("{},\"{}\",{},{:.9g},{:.9g},{:.6g},{:.9g},{:.9g}\n", i + 1, row.strategy.str(), row.ranks,
                        advice.epoch_seconds(row), row.simulated.step_seconds, row.efficiency,
                        row.simulated.exposed_seconds, row.samples_per_second);
  }
  return text;
}

}  // namespace isobar::forecast
