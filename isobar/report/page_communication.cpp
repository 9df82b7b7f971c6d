// Communication: what a rank sends in a step, how long that is under way, and how much of this time computation hides:
// for gradients, and for the messages of the model, layer by layer.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isobar/base/html_text.hpp"
#include "isobar/report/figures.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/kernel_times.hpp"
#include "isobar/report/message_times.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

std::string hidden(double waited, double under_way) {
  const auto share = comm::hidden_share(waited, under_way);
  return share ? percent(*share, 1) : "";
}

// Means over the recorded steps of rank 0.
std::string costs_table(const record::RunRecord& run, const comm::ExchangeCosts& costs) {
  double steps = 0, step_seconds = 0;
  for (const record::StepRecord& step : run.steps)
    if (step.seconds > 0) ++steps, step_seconds += step.seconds;
  const auto& [gradients, messages] = costs;
  const Unit time = seconds_unit(std::max(gradients.busy_seconds, messages.busy_seconds) / steps);
  const Unit size = bytes_unit(static_cast<double>(std::max(gradients.traffic.bytes, messages.traffic.bytes)) / steps);
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* what, const comm::ExchangeCost& cost) {
    if (cost.sums == 0) return;
    rows.push_back({what, fmt::format("{:.4g}", static_cast<double>(cost.traffic.messages) / steps),
                    size.text(static_cast<double>(cost.traffic.bytes) / steps), time.text(cost.busy_seconds / steps),
                    time.text(cost.waited_seconds / steps), percent(cost.waited_seconds, step_seconds),
                    hidden(cost.waited_seconds, cost.busy_seconds)});
  };
  add("messages of the model", messages);
  add("gradients", gradients);
  const std::vector<Column> columns{{"what"},
                                    {"messages", true},
                                    {"sent, " + size.name, true},
                                    {"under way, " + time.name, true},
                                    {"exposed, " + time.name, true},
                                    {"of the step", true},
                                    {"hidden", true}};
  return html_table(columns, rows);
}

std::string layers_html(const PageSource& source) {
  const std::vector<MessageTime> all = message_times(source.run, source.trace);
  if (all.empty()) return "";
  const auto steps = static_cast<double>(traced_steps(source.trace).size());
  if (steps == 0)
    return missing_html(
        "Messages of single layers are not known: trace/rank0.json is missing; report.trace_steps above 0 writes it.");
  double longest = 0, most = 0;
  for (const MessageTime& each : all)
    longest = std::max(longest, each.under_way_seconds), most = std::max(most, each.bytes);
  const Unit time = seconds_unit(longest / steps), size = bytes_unit(most / steps);
  std::vector<std::vector<std::string>> rows;
  for (const MessageTime& each : all)
    rows.push_back({html_text(each.planned.node),
                    fmt::format("{} of {}", fmt::join(each.planned.partners, ", "), html_text(each.planned.circle)),
                    size.text(each.bytes / steps), time.text(each.under_way_seconds / steps),
                    time.text(each.waited_seconds / steps), hidden(each.waited_seconds, each.under_way_seconds)});
  const std::vector<Column> columns{{"messages of"},
                                    {"with ranks"},
                                    {"sent, " + size.name, true},
                                    {"under way, " + time.name, true},
                                    {"waited, " + time.name, true},
                                    {"hidden", true}};
  return "<h3>Messages of the model, layer by layer</h3>\n" +
         note_html(fmt::format("A step on rank 0, forward and backward, mean over {} traced steps; those it waits for "
                               "longest come first. In trace/rank0.json each message is an event of the lane "
                               "'exchange'.",
                               steps)) +
         html_table(columns, rows);
}

std::string communication_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  if (run.described && run.ranks == 1) return "<p>One rank: it has nobody to talk to.</p>\n";
  const comm::ExchangeCosts costs = run.exchange_costs();
  if (costs.gradients.sums + costs.messages.sums == 0)
    return missing_html(
        "No step of timing.jsonl says what was exchanged: the run has not taken a step on several ranks, or an older "
        "program wrote it.");
  std::string text;
  if (run.ways > 1)
    text += fmt::format("<p>Each model is cut over {} ranks; rank 0 has {}.</p>\n", run.ways, html_text(run.part));
  text +=
      "<p>A mean step on rank 0. Exposed is the time in which it waited; the rest of the time under way is hidden "
      "behind computation.</p>\n";
  return text + costs_table(run, costs) + layers_html(source);
}

}  // namespace

extern const Section communication_section{"communication", "Communication", communication_html};

}  // namespace isobar::report
