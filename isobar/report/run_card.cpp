#include "isobar/report/run_card.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/html_text.hpp"
#include "isobar/disk/text_file.hpp"
#include "isobar/report/card_facts.hpp"

namespace isobar::report {
namespace {

struct Way {
  const char *trap, *what;
  CardFinding (*find)(const CardFacts&);
};

constexpr Way ways[] = {
    {"speed without accuracy", "accuracy next to every speed", accuracy_with_speed},
    {"accuracy on the training samples", "accuracy on the test set", test_accuracy},
    {"tuning that is not counted", "all tuning runs counted", tuning_runs},
    {"hardware of different ages", "the hardware and its year", hardware},
    {"kernels in place of the application", "the whole application", whole_application},
    {"input left out", "input and output included, staging stated", input_and_staging},
    {"FLOPs of unknown kind", "precision of the FLOPs and how they were counted", flops},
    {"speed of one run, accuracy of another", "speed and accuracy of one run", same_run},
    {"a smaller problem", "input size against the standard size", input_size},
    {"a fixed time in place of a result", "time to solution", time_to_solution},
    {"scaling of an unknown kind", "strong or weak scaling, with the global batch", scaling_kind},
    {"either time or accuracy against others", "time and accuracy against the reference", against_reference},
};

// Wraps words into lines of `width`, all but the first indented by `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) out += ' ', ++column;
    out += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Text with commands in backquotes.
std::string with_code(std::string_view text) {
  std::string out;
  for (bool code = false; !text.empty(); code = !code) {
    const std::size_t end = std::min(text.find('`'), text.size());
    const std::string part = html_text(text.substr(0, end));
    out += code ? "<code>" + part + "</code>" : part;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

std::vector<CardRow> run_card(const record::RunRecord& run) {
  const CardFacts facts(run);
  std::vector<CardRow> card;
  for (const Way& way : ways) {
    const CardFinding found = way.find(facts);
    card.push_back({static_cast<int>(card.size()) + 1, way.trap, way.what, found.shown, found.shown ? found.text : "",
                    found.shown ? "" : found.text});
  }
  return card;
}

int rows_shown(std::span<const CardRow> card) { return std::ranges::count(card, true, &CardRow::shown); }

std::string card_text(std::span<const CardRow> card, std::size_t width) {
  constexpr std::size_t indent = 17;
  std::string text = fmt::format("Run card: {} of {} shown\n", rows_shown(card), card.size());
  for (const CardRow& row : card)
    text += fmt::format("{:>3}  {:<10}  {}\n{:{}}{}\n", row.number, row.shown ? "shown" : "not shown", row.what, "",
                        indent, wrapped(row.shown ? row.figure : row.missing, indent, width));
  return text;
}

std::string card_html(std::span<const CardRow> card) {
  std::string text = fmt::format(
      "<p><b>{} of {} shown.</b> <span class=\"note\">One row for each of twelve known ways to make performance look "
      "better than it is; figures come from what the run recorded.</span></p>\n",
      rows_shown(card), card.size());
  text +=
      "<div class=\"box\"><table class=\"card\">\n<thead><tr><th scope=\"col\" class=\"number\">#</th>"
      "<th scope=\"col\">what a fair report shows</th><th scope=\"col\"></th><th scope=\"col\">figure, or what would "
      "show it</th></tr></thead>\n<tbody>\n";
  for (const CardRow& row : card)
    text += fmt::format(
        "<tr><td class=\"number\">{}</td><td>{}<br><span class=\"note\">not: {}</span></td><td><span "
        "class=\"{}\">{}</span></td><td>{}</td></tr>\n",
        row.number, html_text(row.what), html_text(row.trap), row.shown ? "good" : "bad",
        row.shown ? "shown" : "not&nbsp;shown", with_code(row.shown ? row.figure : row.missing));
  return text + "</tbody></table></div>\n";
}

std::string card_json(const record::RunRecord& run, std::span<const CardRow> card) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const CardRow& row : card)
    rows.push_back({{"number", row.number},
                    {"trap", row.trap},
                    {"what", row.what},
                    {"shown", row.shown},
                    {row.shown ? "figure" : "missing", row.shown ? row.figure : row.missing}});
  const nlohmann::ordered_json all{{"run", run.folder.string()},
                                   {"network", run.model()},
                                   {"shown", rows_shown(card)},
                                   {"of", card.size()},
                                   {"rows", rows}};
  // File names may have any encoding: invalid UTF-8 is replaced.
  return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void write_card(const record::RunRecord& run, std::span<const CardRow> card) {
  disk::write_text(run.folder / "run_card.json", card_json(run, card));
}

}  // namespace isobar::report
