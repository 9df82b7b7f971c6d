// The figures of a comparison and its table for the terminal.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/comparison.hpp"

namespace isobar::report {
namespace {

constexpr std::size_t widest_value = 34;

double percent_of(double part, double whole) { return 100 * part / whole; }

std::string some(double value, fmt::format_string<double&> format) {
  return value > 0 ? fmt::format(format, value) : "";
}

std::string state(const ComparedRun& run) { return run.record.reason.empty() ? "not ended" : run.record.reason; }

double exchange_seconds(const record::RunRecord& run) {
  double sum = 0;
  for (const record::StepRecord& step : run.steps) sum += step.exchange_seconds;
  return sum;
}

double flops_rate(const record::RunRecord& run) { return run.flops_per_sample * run.samples_per_second(); }

// The mean training loss over the last tenth of the steps before the run had used `budget` samples.
std::string loss_after(const record::RunRecord& run, std::int64_t budget) {
  std::size_t last = 0;
  for (std::int64_t seen = 0; last < run.steps.size(); ++last)
    if ((seen += run.steps[last].samples) > budget) break;
  if (last == 0 || budget == 0) return "";
  const std::size_t window = std::max<std::size_t>(1, last / 10);
  double sum = 0;
  for (std::size_t i = last - window; i < last; ++i) sum += run.steps[i].loss;
  return fmt::format("{:.4g}", sum / static_cast<double>(window));
}

// Values of the last evaluations: whole metrics, not their parts.
std::set<std::string> metrics_of_all(const Comparison& comparison) {
  std::set<std::string> names;
  for (const ComparedRun& run : comparison.runs)
    if (!run.evaluations.empty())
      for (const auto& [name, value] : run.evaluations.back().values)
        if (name.find('.') == std::string::npos) names.insert(name);
  return names;
}

std::string last_value(const ComparedRun& run, const std::string& metric) {
  if (run.evaluations.empty()) return "";
  const auto value = run.evaluations.back().values.find(metric);
  return value == run.evaluations.back().values.end() ? "" : fmt::format("{:.4g}", value->second);
}

std::string time_to(const ComparedRun& run, const train::Target& target) {
  const Evaluation* reached = first_to_reach(run.judging, target);
  if (!reached) return "not reached";
  const double seconds = reached->seconds + run.ledger.staging_seconds();
  return short_seconds(seconds);
}

std::string short_text(const std::string& text) { return text.empty() ? "-" : one_line(text, widest_value); }

// A table whose columns are the runs.
std::string table(const Comparison& comparison, const std::vector<ComparedFigure>& figures) {
  std::size_t first = 0;
  for (const ComparedFigure& figure : figures) first = std::max(first, figure.name.size());
  std::string text = fmt::format("  {:<{}}", "", first);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    std::size_t width = short_text(comparison.runs[i].label).size();
    for (const ComparedFigure& figure : figures) width = std::max(width, short_text(figure.values[i]).size());
    widths.push_back(width);
    text += fmt::format("  {:>{}}", short_text(comparison.runs[i].label), width);
  }
  text += "\n";
  for (const ComparedFigure& figure : figures) {
    text += fmt::format("  {:<{}}", figure.name, first);
    for (std::size_t i = 0; i < figure.values.size(); ++i)
      text += fmt::format("  {:>{}}", short_text(figure.values[i]), widths[i]);
    text += "\n";
  }
  return text;
}

}  // namespace

std::vector<ComparedFigure> compared_figures(const Comparison& comparison) {
  std::vector<ComparedFigure> figures;
  const auto add = [&](std::string name, auto of) {
    ComparedFigure figure{std::move(name), {}};
    for (const ComparedRun& run : comparison.runs) figure.values.push_back(of(run));
    if (std::ranges::any_of(figure.values, [](const std::string& value) { return !value.empty(); }))
      figures.push_back(std::move(figure));
  };
  using Run = const ComparedRun&;
  add("state", state);
  add("ranks x threads", [](Run run) { return fmt::format("{} x {}", run.record.ranks, run.record.threads); });
  add("global batch", [](Run run) { return run.record.global_batch > 0 ? with_commas(run.record.global_batch) : ""; });
  add("precision", [](Run run) { return run.record.precision; });
  add("steps", [](Run run) { return with_commas(run.ledger.steps); });
  add("samples seen", [](Run run) { return with_commas(run.ledger.samples); });
  for (const std::string& metric : metrics_of_all(comparison))
    add("test " + metric, [&](Run run) { return last_value(run, metric); });
  std::int64_t budget = comparison.runs[0].ledger.samples;
  for (const ComparedRun& run : comparison.runs) budget = std::min(budget, run.ledger.samples);
  add(fmt::format("training loss after {} samples", with_commas(budget)),
      [&](Run run) { return loss_after(run.record, budget); });
  if (comparison.target)
    add(fmt::format("time to {}", comparison.target->str()), [&](Run run) { return time_to(run, *comparison.target); });
  add("ms/step", [](Run run) { return some(run.record.step_seconds() * 1e3, "{:.4g}"); });
  add("samples/s", [](Run run) {
    const double speed = run.record.samples_per_second();
    return speed > 0 ? told_speed(speed).substr(0, told_speed(speed).find(' ')) : "";
  });
  add("GF/s", [](Run run) { return some(flops_rate(run.record) / 1e9, "{:.4g}"); });
  add("% of measured peak", [](Run run) {
    return run.record.peaks.flops_per_second > 0
               ? some(percent_of(flops_rate(run.record), run.record.peaks.flops_per_second), "{:.1f}")
               : "";
  });
  if (!comparison.study.empty())
    add(*comparison.scaling == Scaling::strong ? "efficiency, strong scaling" : "efficiency, weak scaling",
        [&](Run run) {
          const std::size_t i = &run - comparison.runs.data();
          return fmt::format("{:.1f} %", 100 * comparison.study[i].efficiency);
        });
  const auto share = [](double part, double whole) {
    return whole > 0 ? fmt::format("{:.1f} %", percent_of(part, whole)) : "";
  };
  add("exposed communication", [&](Run run) { return share(exchange_seconds(run.record), run.ledger.step_seconds); });
  add("waiting for input", [&](Run run) { return share(run.ledger.wait_seconds, run.ledger.step_seconds); });
  add("time of the run",
      [](Run run) { return short_seconds(run.ledger.kept_seconds() + run.ledger.staging_seconds()); });
  add("starts", [](Run run) { return run.ledger.has_history ? std::to_string(run.ledger.starts) : ""; });
  add("run card", [](Run run) { return fmt::format("{} of {}", rows_shown(run.card), run.card.size()); });
  return figures;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("{} runs side by side", comparison.runs.size());
  if (comparison.scaling)
    text += *comparison.scaling == Scaling::strong ? ": strong scaling, constant global batch"
                                                   : ": weak scaling, constant batch per rank";
  text += "\n";
  for (const std::string& note : comparison.notes) text += "note: " + note + "\n";
  if (comparison.differences.empty()) {
    text += "\nThe recipes do not differ.\n";
  } else {
    std::vector<ComparedFigure> rows;
    for (const Difference& difference : comparison.differences) rows.push_back({difference.key, difference.values});
    text += "\nWhat differs between the recipes\n" + table(comparison, rows);
  }
  text += "\nFigures\n" + table(comparison, compared_figures(comparison));
  if (comparison.target)
    text += fmt::format("time to {}: {}; steps, evaluations, checkpoints and staging\n", comparison.target->str(),
                        comparison.target_origin);
  std::vector<ComparedFigure> rows;
  for (std::size_t i = 0; i < comparison.runs[0].card.size(); ++i) {
    const CardRow& row = comparison.runs[0].card[i];
    ComparedFigure figure{fmt::format("{:>2} {}", row.number, row.what), {}};
    for (const ComparedRun& run : comparison.runs) figure.values.emplace_back(run.card[i].shown ? "shown" : "not");
    rows.push_back(std::move(figure));
  }
  return text + "\nRun cards\n" + table(comparison, rows);
}

}  // namespace isobar::report
