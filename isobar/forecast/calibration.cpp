#include "isobar/forecast/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "isobar/base/text.hpp"
#include "isobar/forecast/least_squares.hpp"
#include "isobar/forecast/stretches.hpp"

namespace isobar::forecast {
namespace {

// The number of factors that the runs determine.
int unknowns_of(std::span<const MeasuredRun> runs) {
  std::set<int> exchanging;
  for (const MeasuredRun& run : runs)
    if (run.ranks > 1) exchanging.insert(run.ranks);
  const int told = exchanging.empty() ? 1 : exchanging.size() == 1 ? 2 : 3;
  return std::min<int>(told, std::ssize(runs));
}

// The largest logarithm of a factor: e^4 is more than 50 times.
constexpr double furthest = 4;

bool at_the_end(double factor) { return std::abs(std::log(factor)) > furthest - 1e-6; }

Factors factors_at(const std::vector<double>& point) {
  Factors factors;
  if (point.size() > 0) factors.compute_seconds = std::exp(point[0]);
  if (point.size() > 1) factors.bytes_per_second = std::exp(point[1]);
  if (point.size() > 2) factors.message_seconds = std::exp(point[2]);
  return factors;
}

Factors fit(std::span<const MeasuredRun> runs, const StepModel& model) {
  const auto residuals = [&](const std::vector<double>& point) {
    std::vector<double> all;
    for (const MeasuredRun& run : runs) all.push_back(std::log(model(run, factors_at(point)) / run.step_seconds));
    return all;
  };
  return factors_at(least_squares(residuals, std::vector<double>(unknowns_of(runs)), furthest).point);
}

ForecastError error_of(std::span<const CalibratedRun> runs) {
  ForecastError error;
  for (const CalibratedRun& run : runs) {
    if (run.forecast <= 0) continue;
    const double off = std::abs(run.forecast / run.run.step_seconds - 1);
    error.mean = (error.mean * error.runs + off) / (error.runs + 1);
    error.worst = std::max(error.worst, off);
    ++error.runs;
  }
  if (error.runs == 0)
    error.text = "calibrated on one run, which leaves none to compare a forecast with: its error is not known";
  else
    error.text = fmt::format(
        "{:.1f} % of the step time on average and {:.1f} % at worst, over {} measured runs of {} to {} ranks, each "
        "forecast from a fit to the others",
        100 * error.mean, 100 * error.worst, error.runs,
        std::ranges::min_element(runs, {}, [](auto& r) { return r.run.ranks; })->run.ranks,
        std::ranges::max_element(runs, {}, [](auto& r) { return r.run.ranks; })->run.ranks);
  return error;
}

}  // namespace

sim::Scenario scaled(const sim::Scenario& scenario, const Factors& factors) {
  sim::Scenario other = scenario;
  other.change_parts([&](const sim::Workload& part) { return part.times(factors.compute_seconds); });
  other.platform.node.inside_bytes_per_second *= factors.bytes_per_second;
  other.platform.network.link_bytes_per_second *= factors.bytes_per_second;
  other.platform.network.injection_bytes_per_second *= factors.bytes_per_second;
  other.platform.network.core_seconds_per_byte /= factors.bytes_per_second;
  other.platform.node.inside_latency *= factors.message_seconds;
  other.platform.network.latency *= factors.message_seconds;
  other.platform.network.hop_latency *= factors.message_seconds;
  other.platform.network.message_overhead *= factors.message_seconds;
  return other;
}

StepModel simulated_step(const sim::Scenario& base,
                         const std::function<sim::Simulated(const sim::Scenario&)>& simulate) {
  return [base, simulate](const MeasuredRun& run, const Factors& factors) {
    sim::Scenario scenario = scaled(base, factors);
    scenario.change_parts([&](const sim::Workload& part) { return with_batch(part, run.batch); });
    scenario.ranks = run.ranks;
    scenario.ranks_per_node = (run.ranks + run.nodes - 1) / run.nodes;
    scenario.strategy = run.strategy;
    scenario.input = sim::Input::none;
    return simulate(scenario).step_seconds;
  };
}

Calibration calibrate(std::span<const MeasuredRun> runs, const StepModel& model) {
  if (runs.empty()) fail_usage("calibrate: no run was given");
  Calibration result;
  result.unknowns = unknowns_of(runs);
  result.factors = fit(runs, model);
  for (std::size_t left_out = 0; left_out < runs.size(); ++left_out) {
    CalibratedRun row{.run = runs[left_out], .fitted = model(runs[left_out], result.factors)};
    if (runs.size() > 1) {
      std::vector<MeasuredRun> others(runs.begin(), runs.end());
      others.erase(others.begin() + left_out);
      row.forecast = model(runs[left_out], fit(others, model));
    }
    result.runs.push_back(std::move(row));
  }
  result.error = error_of(result.runs);
  return result;
}

std::string Calibration::text() const {
  std::string text = fmt::format("calibrated on {} run{}: kernels take {:.3g} times as long", runs.size(),
                                 runs.size() == 1 ? "" : "s", factors.compute_seconds);
  if (unknowns > 1) text += fmt::format(", bytes travel {:.3g} times as fast", factors.bytes_per_second);
  if (unknowns > 2) text += fmt::format(", messages cost {:.3g} times as much", factors.message_seconds);
  text += " as workload and platform say\n";
  for (const double factor : {factors.compute_seconds, factors.bytes_per_second, factors.message_seconds})
    if (at_the_end(factor))
      text +=
          fmt::format("  warning: the search ended at its limit, {:.3g}: these runs do not tell that number\n", factor);
  text += fmt::format("  {:>6} {:>6} {:>8} {:>12} {:>10} {:>24}  {}\n", "ranks", "nodes", "batch", "measured ms",
                      "fitted ms", "forecast from others ms", "run");
  for (const CalibratedRun& row : runs)
    text += fmt::format("  {:>6} {:>6} {:>8g} {:>12.2f} {:>10.2f} {:>24}  {}\n", row.run.ranks, row.run.nodes,
                        row.run.batch, row.run.step_seconds * 1e3, row.fitted * 1e3,
                        row.forecast > 0 ? fmt::format("{:.2f} ({:+.1f} %)", row.forecast * 1e3,
                                                       100 * (row.forecast / row.run.step_seconds - 1))
                                         : "-",
                        row.run.name);
  text.pop_back();
  return text;
}

}  // namespace isobar::forecast
