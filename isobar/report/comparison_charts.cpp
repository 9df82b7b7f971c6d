// The charts of a comparison: curves of all runs over steps, samples and time, and where the time of a step went.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/comparison.hpp"
#include "isobar/report/curves.hpp"

namespace isobar::report {
namespace {

constexpr std::size_t most_chart_points = 240;
constexpr int most_colours = 8;

// What a horizontal axis counts, for the steps and for the evaluations of a run.
struct Along {
  const char* name;
  double (*of_step)(double before, const record::StepRecord&);
  double (*of_evaluation)(const ComparedRun&, const Evaluation&);
};

double samples_until(const ComparedRun& run, std::int64_t step) {
  double sum = 0;
  for (const record::StepRecord& record : run.record.steps)
    if (record.step <= step) sum += static_cast<double>(record.samples);
  return sum;
}

constexpr Along alongs[] = {
    {"step", [](double, const record::StepRecord& step) { return static_cast<double>(step.step); },
     [](const ComparedRun&, const Evaluation& evaluation) { return static_cast<double>(evaluation.step); }},
    {"sample", [](double before, const record::StepRecord& step) { return before + static_cast<double>(step.samples); },
     [](const ComparedRun& run, const Evaluation& evaluation) { return samples_until(run, evaluation.step); }},
    {"second", [](double before, const record::StepRecord& step) { return before + step.seconds; },
     [](const ComparedRun&, const Evaluation& evaluation) { return evaluation.seconds; }},
};

// The training loss; if there are many steps, as means over equal numbers of steps.
Curve losses(const ComparedRun& run, const Along& along) {
  Curve curve{run.label};
  curve.drawn = Curve::Drawn::line;
  const std::vector<record::StepRecord>& steps = run.record.steps;
  const std::size_t together = steps.size() / most_chart_points + 1;
  double x = 0, sum = 0;
  std::size_t count = 0;
  for (const record::StepRecord& step : steps) {
    x = along.of_step(x, step);
    if (std::isfinite(step.loss)) sum += step.loss, ++count;
    if (count == 0 || (count < together && &step != &steps.back())) continue;
    curve.epochs.push_back(x);
    curve.values.push_back(sum / static_cast<double>(count));
    sum = 0, count = 0;
  }
  return curve;
}

Curve values(const ComparedRun& run, const std::string& metric, const Along& along) {
  Curve curve{run.label};
  for (const Evaluation& evaluation : run.evaluations) {
    const auto value = evaluation.values.find(metric);
    if (value == evaluation.values.end() || !std::isfinite(value->second)) continue;
    curve.epochs.push_back(along.of_evaluation(run, evaluation));
    curve.values.push_back(value->second);
  }
  return curve;
}

// The axis shows short whole numbers: a few seconds in milliseconds, many samples in thousands.
void choose_unit(Panel& panel, double furthest) {
  double factor = 1;
  if (panel.along == "second" && furthest < 10) panel.along = "millisecond", factor = 1e3;
  if (panel.along != "second" && furthest >= 1e5) panel.along = "thousand " + panel.along + "s", factor = 1e-3;
  for (Curve& curve : panel.curves)
    for (double& x : curve.epochs) x *= factor;
}

std::string drawn(Panel panel) {
  double furthest = 0;
  for (const Curve& curve : panel.curves)
    for (const double x : curve.epochs) furthest = std::max(furthest, x);
  if (furthest <= 0) return "";
  choose_unit(panel, furthest);
  return "<figure>\n" + panel_chart(panel) + "</figure>\n";
}

std::string run_key(const Comparison& comparison) {
  std::string text = "<ul class=\"key\">";
  for (std::size_t i = 0; i < comparison.runs.size(); ++i)
    text += fmt::format("<li><i style=\"background:var(--s{})\"></i>{}</li>", i % most_colours,
                        html_text(comparison.runs[i].label));
  return text + "</ul>\n";
}

// Milliseconds of a traced step of rank 0 by category.
std::vector<double> step_parts(const record::RunRecord& run) {
  std::vector<double> parts;
  if (run.by_rank.empty() || run.by_rank[0].steps.empty()) return parts;
  const auto totals = run.totals(run.by_rank[0]);
  for (const CategoryTotal& total : totals)
    parts.push_back(1e3 * total.seconds / static_cast<double>(run.by_rank[0].steps.size()));
  return parts;
}

double sum_of(const std::vector<double>& parts) {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace

std::string comparison_curves(const Comparison& comparison) {
  std::string figures;
  const auto add = [&](const std::string& name, auto curve_of) {
    for (const Along& along : alongs) {
      Panel panel{name, {}, along.name};
      for (const ComparedRun& run : comparison.runs) panel.curves.push_back(curve_of(run, along));
      figures += drawn(std::move(panel));
    }
  };
  add("training loss", losses);
  const std::string metric = comparison.metric.empty() ? "loss" : comparison.metric;
  add("test " + metric, [&](const ComparedRun& run, const Along& along) { return values(run, metric, along); });
  if (figures.empty()) return "";
  return run_key(comparison) + "<div class=\"columns\">\n" + figures + "</div>\n";
}

std::string comparison_categories(const Comparison& comparison) {
  std::vector<std::vector<double>> all;
  double longest = 0;
  for (const ComparedRun& run : comparison.runs) {
    all.push_back(step_parts(run.record));
    longest = std::max(longest, sum_of(all.back()));
  }
  if (longest <= 0) return "";
  std::vector<std::string> present;
  for (int c = 0; c < category_count; ++c)
    if (std::ranges::any_of(all, [&](const auto& parts) { return !parts.empty() && parts[c] > 0; }))
      present.emplace_back(category_name(static_cast<Category>(c)));
  constexpr double row = 46;
  const auto draw = [&](double width) {
    std::string inside;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double top = row * static_cast<double>(i);
      inside += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}: {}</text>", top + 14, html_text(comparison.runs[i].label),
                            all[i].empty() ? "no traced step" : fmt::format("{:.4g} ms a step", sum_of(all[i])));
      double x = 0;
      for (std::size_t c = 0; c < all[i].size(); ++c) {
        if (all[i][c] <= 0) continue;
        const std::string name(category_name(static_cast<Category>(c)));
        const double length = width * all[i][c] / longest;
        inside +=
            category_bar(x, top + 20, length, 18, name,
                         fmt::format("{}: {:.4g} ms, {:.1f} %", name, all[i][c], 100 * all[i][c] / sum_of(all[i])));
        x += length;
      }
      inside += "\n";
    }
    return chart_svg(width, row * static_cast<double>(all.size()), "time of a step by category, run by run", inside);
  };
  return category_legend(present) + both_widths(draw);
}

}  // namespace isobar::report
