// The charts of a comparison: curves of all runs over steps, samples and time, and where the time of a step went.
#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/report/chart.hpp"
#include "isobar/report/comparison.hpp"
#include "isobar/report/run_curves.hpp"

namespace isobar::report {
namespace {

constexpr int most_colours = 8;

std::string drawn(Panel panel) { return choose_unit(panel) ? "<figure>\n" + panel_chart(panel) + "</figure>\n" : ""; }

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
    for (const Along* along : {&along_steps, &along_samples, &along_seconds}) {
      Panel panel{name, {}, along->name};
      for (const ComparedRun& run : comparison.runs) panel.curves.push_back(curve_of(run, *along));
      figures += drawn(std::move(panel));
    }
  };
  add("training loss",
      [](const ComparedRun& run, const Along& along) { return loss_curve(run.label, run.record, along); });
  const std::string metric = comparison.metric.empty() ? "loss" : comparison.metric;
  add("test " + metric, [&](const ComparedRun& run, const Along& along) {
    return result_curve(run.label, run.record, run.evaluations, metric, along);
  });
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
