#include "isobar/report/run_curves.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::report {
namespace {

constexpr std::size_t most_chart_points = 240;

// Each of several teams takes its share of every batch.
double samples_of(const record::RunRecord& run, const record::StepRecord& step) {
  return static_cast<double>(run.teams > 1 && run.global_batch > 0 ? run.global_batch : step.samples);
}

double samples_until(const record::RunRecord& run, std::int64_t step) {
  double sum = 0;
  for (const record::StepRecord& record : run.steps)
    if (record.step <= step) sum += samples_of(run, record);
  return sum;
}

}  // namespace

const Along along_steps{
    "step",
    [](const record::RunRecord&, double, const record::StepRecord& step) { return static_cast<double>(step.step); },
    [](const record::RunRecord&, const Evaluation& evaluation) { return static_cast<double>(evaluation.step); }};

const Along along_samples{
    "sample",
    [](const record::RunRecord& run, double before, const record::StepRecord& step) {
      return before + samples_of(run, step);
    },
    [](const record::RunRecord& run, const Evaluation& evaluation) { return samples_until(run, evaluation.step); }};

const Along along_seconds{
    "second",
    [](const record::RunRecord&, double before, const record::StepRecord& step) { return before + step.seconds; },
    [](const record::RunRecord&, const Evaluation& evaluation) { return evaluation.seconds; }};

Curve loss_curve(const std::string& name, const record::RunRecord& run, const Along& along) {
  Curve curve{name};
  curve.drawn = Curve::Drawn::line;
  const std::size_t together = run.steps.size() / most_chart_points + 1;
  double x = 0, sum = 0;
  std::size_t count = 0;
  for (const record::StepRecord& step : run.steps) {
    x = along.of_step(run, x, step);
    if (std::isfinite(step.loss)) sum += step.loss, ++count;
    if (count == 0 || (count < together && &step != &run.steps.back())) continue;
    curve.epochs.push_back(x);
    curve.values.push_back(sum / static_cast<double>(count));
    sum = 0, count = 0;
  }
  return curve;
}

Curve result_curve(const std::string& name, const record::RunRecord& run, std::span<const Evaluation> evaluations,
                   const std::string& metric, const Along& along) {
  Curve curve{name};
  for (const Evaluation& evaluation : evaluations) {
    const auto value = evaluation.values.find(metric);
    if (value == evaluation.values.end() || !std::isfinite(value->second)) continue;
    curve.epochs.push_back(along.of_evaluation(run, evaluation));
    curve.values.push_back(value->second);
  }
  return curve;
}

bool choose_unit(Panel& panel) {
  double furthest = 0;
  for (const Curve& curve : panel.curves)
    for (const double x : curve.epochs) furthest = std::max(furthest, x);
  if (furthest <= 0) return false;
  double factor = 1;
  if (panel.along == "second" && furthest < 10) panel.along = "millisecond", factor = 1e3;
  if (panel.along != "second" && furthest >= 1e5) panel.along = "thousand " + panel.along + "s", factor = 1e-3;
  for (Curve& curve : panel.curves)
    for (double& x : curve.epochs) x *= factor;
  return true;
}

}  // namespace isobar::report
