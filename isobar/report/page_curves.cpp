// Curves: the loss of every step with a smoothed line through it, then loss and metrics of the epochs.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/curves.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

constexpr std::size_t most_curve_points = 1200, most_of_a_line = 400;

// The mean over a window around each step, a thirtieth of the run to either side, so that the line does not lag.
std::vector<double> smoothed(const std::vector<record::StepRecord>& steps) {
  std::vector<double> sums{0}, counts{0};
  for (const record::StepRecord& step : steps) {
    const bool counted = std::isfinite(step.loss);
    sums.push_back(sums.back() + (counted ? step.loss : 0));
    counts.push_back(counts.back() + (counted ? 1 : 0));
  }
  const std::size_t reach = std::max<std::size_t>(3, steps.size() / 30);
  std::vector<double> values;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t from = i - std::min(i, reach), to = std::min(steps.size(), i + reach + 1);
    const double count = counts[to] - counts[from];
    values.push_back(count > 0 ? (sums[to] - sums[from]) / count : std::nan(""));
  }
  return values;
}

Panel step_panel(const std::vector<record::StepRecord>& steps) {
  Panel panel{"loss of a step", {{"each"}, {"smoothed"}}, "step"};
  Curve &each = panel.curves[0], &mean = panel.curves[1];
  each.drawn = Curve::Drawn::points;
  mean.drawn = Curve::Drawn::line;
  const std::vector<double> means = smoothed(steps);
  // Of a long run every n-th step, always including the last.
  const std::size_t points = steps.size() / most_curve_points + 1, line = steps.size() / most_of_a_line + 1;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t left = steps.size() - 1 - i;
    const auto step = static_cast<double>(steps[i].step);
    if (left % points == 0) each.epochs.push_back(step), each.values.push_back(steps[i].loss);
    if (left % line == 0) mean.epochs.push_back(step), mean.values.push_back(means[i]);
  }
  return panel;
}

std::string curves_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  if (run.steps.empty()) return missing_html("No step is recorded yet: metrics.jsonl gets a line for every step.");
  std::vector<Panel> panels{step_panel(run.steps)};
  std::vector<train::EpochDone> epochs;
  for (const record::EpochRecord& epoch : run.epochs)
    epochs.push_back({.epoch = epoch.epoch,
                      .step = epoch.step,
                      .train_loss = epoch.train_loss,
                      .test = epoch.test,
                      .validation = epoch.validation});
  if (!epochs.empty())
    for (Panel& panel : panels_of(epochs)) panels.push_back(std::move(panel));
  std::string text = "<div class=\"columns\">\n";
  for (const Panel& panel : panels) text += fmt::format("<figure>\n{}</figure>\n", panel_chart(panel));
  text += "</div>\n";
  if (epochs.empty()) text += missing_html("No epoch is complete yet: metrics of epochs follow.");
  const std::size_t thinned = run.steps.size() / most_curve_points + 1;
  return text + note_html(fmt::format("{} steps{}; figures beside a name are the last ones.",
                                      with_commas(std::ssize(run.steps)),
                                      thinned > 1 ? fmt::format(", one point for every {}", thinned) : ""));
}

}  // namespace

extern const Section curves_section{"curves", "Curves", curves_html};

}  // namespace isobar::report
