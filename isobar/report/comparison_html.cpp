// The page of a comparison.
#include <algorithm>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/report/comparison.hpp"
#include "isobar/report/html.hpp"

namespace isobar::report {
namespace {

std::vector<Column> columns_of(const Comparison& comparison) {
  std::vector<Column> columns{{""}};
  for (const ComparedRun& run : comparison.runs) columns.push_back({run.label, true});
  return columns;
}

std::vector<std::string> cells(const std::string& name, const std::vector<std::string>& values) {
  std::vector<std::string> row{html_text(name)};
  for (const std::string& value : values) row.push_back(value.empty() ? "–" : html_text(value));
  return row;
}

std::string notes(const Comparison& comparison) {
  std::string text;
  for (const std::string& note : comparison.notes) text += "<p class=\"missing\">" + html_text(note) + "</p>\n";
  return text;
}

std::string figures(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  for (const ComparedFigure& figure : compared_figures(comparison)) rows.push_back(cells(figure.name, figure.values));
  std::string text = html_table(columns_of(comparison), rows);
  if (comparison.target)
    text += fmt::format("<p class=\"note\">Time to {}: {}; steps, evaluations, checkpoints and staging count.</p>\n",
                        html_text(comparison.target->str()), comparison.target_origin);
  return text;
}

std::string differences(const Comparison& comparison) {
  if (comparison.differences.empty()) return "<p>The recipes do not differ.</p>\n";
  std::vector<std::vector<std::string>> rows;
  for (const Difference& difference : comparison.differences) rows.push_back(cells(difference.key, difference.values));
  return html_table(columns_of(comparison), rows);
}

std::string scaling(const Comparison& comparison) {
  std::string text = "<div class=\"columns\">\n";
  for (const Panel& panel : scaling_panels(comparison.study, *comparison.scaling))
    text += "<figure>\n" + panel_chart(panel) + "</figure>\n";
  return text + "</div>\n";
}

// The report of each run says why rows of its card are not shown.
std::string cards(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < comparison.runs[0].card.size(); ++i) {
    std::vector<std::string> row{
        fmt::format("{}. {}", comparison.runs[0].card[i].number, html_text(comparison.runs[0].card[i].what))};
    for (const ComparedRun& run : comparison.runs) {
      const CardRow& of = run.card[i];
      row.push_back(fmt::format("<span class=\"{}\" title=\"{}\">{}</span>", of.shown ? "good" : "bad",
                                html_text(of.shown ? of.figure : of.missing), of.shown ? "shown" : "not shown"));
    }
    rows.push_back(std::move(row));
  }
  return html_table(columns_of(comparison), rows) +
         "<p class=\"note\">Figures, and what would show the rest, are in the report of each run.</p>\n";
}

}  // namespace

std::string comparison_html(const Comparison& comparison) {
  std::string title = fmt::format("{} runs side by side", comparison.runs.size());
  if (comparison.scaling) title += *comparison.scaling == Scaling::strong ? ": strong scaling" : ": weak scaling";
  std::string body = "<h1>" + html_text(title) + "</h1>\n" + notes(comparison);
  body += html_section("figures", "Figures", figures(comparison));
  body += html_section("differences", "What differs between the recipes", differences(comparison));
  if (!comparison.study.empty()) body += html_section("scaling", "Scaling", scaling(comparison));
  const std::string curves = comparison_curves(comparison), categories = comparison_categories(comparison);
  body += html_section("curves", "Curves",
                       curves.empty() ? "<p class=\"missing\">No run has recorded a step yet.</p>\n" : curves);
  body +=
      html_section("categories", "Where the time of a step went",
                   categories.empty() ? "<p class=\"missing\">No step was traced: the folder profile/ of every run is "
                                        "missing; [report] trace_steps in a recipe sets how many are.</p>\n"
                                      : categories);
  body += html_section("cards", "Run cards", cards(comparison));
  return html_page(title, body);
}

}  // namespace isobar::report
