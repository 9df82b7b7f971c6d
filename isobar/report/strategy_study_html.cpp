// The page of a study of strategies.
#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/ledger.hpp"
#include "isobar/report/strategy_study.hpp"

namespace isobar::report {
namespace {

std::string study_figures(const StrategyStudy& study) {
  const std::vector<StudyColumn> columns = study_columns(study);
  std::vector<Column> titles{{"strategy"}};
  for (const StudyColumn& column : columns) titles.push_back({column.name, column.name != "runs"});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < study.strategies.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back("<code>" + html_text(study.strategies[i].name) + "</code>");
    for (const StudyColumn& column : columns)
      row.push_back(column.values[i].empty() ? "–" : html_text(column.values[i]));
  }
  return html_table(titles, rows) +
         "<p class=\"note\">Results are means over seeds with 95 % intervals (Student's t), times and speeds medians "
         "with their whole range. Time and speed count steps, evaluations and checkpoints; time counts staging too, "
         "and speed goes on until the last rank has ended. What is sent in a step is what rank 0 sends, or adds in "
         "memory "
         "that it shares with other ranks of its node. Staleness is how many updates old gradients were on average "
         "when they were applied, where parameter servers count it. Memory is that of the largest process.</p>\n";
}

std::string study_curves(const StrategyStudy& study) {
  if (study.panels.empty()) return "<p class=\"missing\">No run has finished yet.</p>\n";
  std::string text;
  for (std::size_t i = 0; i < study.panels.size(); ++i) {
    const bool begins_row = i == 0 || study.panels[i].title != study.panels[i - 1].title;
    if (begins_row) text += std::string(i == 0 ? "" : "</div>\n") + "<div class=\"columns\">\n";
    text += "<figure>\n" + panel_chart(study.panels[i]) + "</figure>\n";
  }
  return text +
         "</div>\n<p class=\"note\">Means over the seeds of runs that finished. Where teams of ranks go at their own "
         "pace, loss and time are those of the first team, and samples count as if all were as far.</p>\n";
}

std::string run_link(const StudiedRun& run, const std::filesystem::path& beside) {
  const std::filesystem::path page = run.run.folder / "report.html";
  std::error_code none;
  const std::string name = fmt::format("seed {}", run.run.seed);
  if (!std::filesystem::exists(page, none)) return name;
  return fmt::format("<a class=\"name\" href=\"{}\">{}</a>", html_text(page.lexically_relative(beside).string()), name);
}

std::string study_runs(const StrategyStudy& study, const std::filesystem::path& beside) {
  const std::vector<Column> titles{{"strategy"},
                                   {"run"},
                                   {study.metric.empty() ? "result" : study.metric, true},
                                   {"to the target", true},
                                   {"in all", true},
                                   {"how it ended"}};
  std::vector<std::vector<std::string>> rows;
  for (const StudiedStrategy& strategy : study.strategies)
    for (const StudiedRun& run : strategy.runs) {
      const bool good = run.state == StudiedRun::State::finished;
      const std::string& told = good ? run.exchanged : run.reason;
      rows.push_back({"<code>" + html_text(strategy.name) + "</code>", run_link(run, beside),
                      run.result ? fmt::format("{:.4g}", *run.result) : "–",
                      run.to_target ? html_text(short_seconds(*run.to_target)) : "–",
                      run.seconds > 0 ? html_text(short_seconds(run.seconds)) : "–",
                      fmt::format("<span class=\"{}\">{}</span>{}", good ? "good" : "bad", state_name(run.state),
                                  told.empty() ? "" : ": " + html_text(one_line(told, 300)))});
    }
  return html_table(titles, rows);
}

}  // namespace

std::string study_html(const StrategyStudy& study, const std::filesystem::path& beside) {
  const std::string title =
      fmt::format("{}: {} strategies on {} ranks", study.setting.recipe, study.strategies.size(), study.setting.ranks);
  std::string body = "<h1>" + html_text(title) + "</h1>\n";
  for (const std::string& note : study_notes(study)) body += "<p class=\"missing\">" + html_text(note) + "</p>\n";
  body += html_section("figures", "What each strategy reached", study_figures(study));
  body += html_section("curves", "Loss against samples and against seconds", study_curves(study));
  body += html_section("runs", "All runs", study_runs(study, beside));
  return html_page(title, body);
}

}  // namespace isobar::report
