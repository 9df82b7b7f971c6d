// Results: what was run, how it ended, and the key figures, accuracy beside speed.
#include <cctype>

#include <fmt/format.h>

#include "isobar/base/html_text.hpp"
#include "isobar/base/text.hpp"
#include "isobar/record/choices.hpp"
#include "isobar/report/figures.hpp"
#include "isobar/report/html.hpp"
#include "isobar/report/page_section.hpp"

namespace isobar::report {
namespace {

struct Share {
  double seconds = 0, wait = 0, exchange = 0;
};

Share shares(const record::RunRecord& run) {
  Share sum;
  for (const record::StepRecord& step : run.steps) {
    sum.seconds += step.seconds;
    sum.wait += step.wait_seconds;
    sum.exchange += step.exchange_seconds;
  }
  return sum;
}

// The time of all sessions; for a session that did not end normally, that of its steps and evaluations.
double seconds_of(const record::RunRecord& run) {
  double ended = 0, recorded = 0;
  bool all_ended = !run.sessions.empty();
  for (const record::RecordedSession& session : run.sessions) {
    all_ended = all_ended && session.seconds.has_value();
    ended += session.seconds.value_or(0);
  }
  for (const record::StepRecord& step : run.steps) recorded += step.seconds;
  for (const record::EpochRecord& epoch : run.epochs) recorded += epoch.test_seconds;
  return all_ended ? ended : recorded;
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", with_commas(count), noun, count == 1 ? "" : "s");
}

std::string story(const record::RunRecord& run) {
  std::string text =
      fmt::format("{} on {} with {} each", run.model(), plural(run.ranks, "rank"), plural(run.threads, "thread"));
  if (run.nodes > 1) text += fmt::format(", on {}", plural(run.nodes, "node"));
  if (run.global_batch > 0) text += fmt::format(", {} a step", plural(run.global_batch, "sample"));
  std::string done = plural(run.steps.empty() ? 0 : run.steps.back().step, "step");
  if (!run.epochs.empty() && run.planned_epochs > 0)
    done += fmt::format(", {} of {}", with_commas(run.epochs.back().epoch), plural(run.planned_epochs, "epoch"));
  const std::string time = human_seconds(seconds_of(run));
  if (run.reason.empty())
    return text + fmt::format(". It has not ended: it is still running or was killed. Recorded: {}, {}.", done, time);
  return text +
         fmt::format(". It {} after {}, in {}.", run.reason == "finished" ? "finished" : "was interrupted", done, time);
}

std::string card(std::string_view figure, std::string_view name) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", html_text(figure), html_text(name));
}

// The last evaluation: at the end, or after the last epoch that had one.
const std::map<std::string, double>& last_test(const record::RunRecord& run) {
  static const std::map<std::string, double> none;
  if (!run.test.empty()) return run.test;
  for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch)
    if (!epoch->test.empty()) return epoch->test;
  return none;
}

// The last of the validation set, which is evaluated at the end in any case.
const std::map<std::string, double>& last_validation(const record::RunRecord& run) {
  static const std::map<std::string, double> none;
  for (auto epoch = run.epochs.rbegin(); epoch != run.epochs.rend(); ++epoch)
    if (!epoch->validation.empty()) return epoch->validation;
  return none;
}

std::string cards(const record::RunRecord& run) {
  std::string text = "<div class=\"cards\">\n";
  for (const auto& [name, value] : last_validation(run))
    if (name.find('.') == std::string::npos) text += card(fmt::format("{:.4g}", value), "validation " + name);
  for (const auto& [name, value] : last_test(run))
    if (name.find('.') == std::string::npos) text += card(fmt::format("{:.4g}", value), "test " + name);
  if (!run.epochs.empty())
    text += card(fmt::format("{:.4g}", run.epochs.back().train_loss), "training loss, last epoch");
  const double rate = run.samples_per_second(), flops = rate * run.flops_per_sample;
  const std::string whose = run.teams > 1 ? " on rank 0" : "";  // other ranks are at other steps
  if (rate > 0) {
    text += card(fmt::format("{:.4g}", rate), "samples/s" + whose);
    const Unit unit = seconds_unit(run.step_seconds());
    text += card(fmt::format("{} {}", unit.text(run.step_seconds()), unit.name), "a step (median)");
  }
  if (flops > 0) text += card(human_flops(flops) + "/s", "sustained, whole steps" + whose);
  if (flops > 0 && flops <= run.peaks.flops_per_second)
    text += card(percent(flops, run.peaks.flops_per_second), "of the measured peak");
  const Share share = shares(run);
  if (share.seconds > 0) {
    text += card(percent(share.wait, share.seconds), "waiting for input");
    if (run.ranks > 1) text += card(percent(share.exchange, share.seconds), "exposed communication");
  }
  text += card(human_seconds(seconds_of(run)), "time in all");
  if (run.bad.steps > 0) text += card(with_commas(run.bad.steps), "steps dropped, with bad numbers");
  if (run.bad.rewinds > 0)
    text += card(with_commas(run.bad.rewinds), fmt::format("rewinds, learning rate x {:.4g}", run.bad.rate_scale));
  if (run.parameters > 0) text += card(with_commas(run.parameters), "parameters");
  return text + "</div>\n";
}

std::string parts(const record::RunRecord& run) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : last_test(run))
    if (name.find('.') != std::string::npos && !name.starts_with("confusion"))
      rows.push_back({html_text(name), fmt::format("{:.5g}", value)});
  if (rows.empty()) return "";
  const std::vector<Column> columns{{"part of a metric"}, {"on the test set", true}};
  return html_table(columns, rows);
}

std::string results_html(const PageSource& source) {
  const record::RunRecord& run = source.run;
  std::string text = fmt::format("<p>{}</p>\n", html_text(story(run)));
  if (last_test(run).empty())
    text += missing_html(
        "There are no test metrics: nothing was evaluated yet, or the recipe names no test set "
        "(data.test).");
  if (run.peaks.flops_per_second > 0 && run.samples_per_second() * run.flops_per_sample > run.peaks.flops_per_second)
    text += missing_html(above_peak);
  text += cards(run) + parts(run);
  if (std::string choices = record::choices_text(run.recipe); !choices.empty()) {
    choices[0] = static_cast<char>(std::toupper(choices[0]));
    text += note_html(choices + ".");
  }
  return text;
}

}  // namespace

extern const Section results_section{"results", "Results", results_html};

}  // namespace isobar::report
