// The figures of a study of strategies as text, CSV and JSON.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "isobar/base/text.hpp"
#include "isobar/record/sinks.hpp"
#include "isobar/report/ledger.hpp"
#include "isobar/report/strategy_study.hpp"

namespace isobar::report {
namespace {

using StudyJson = nlohmann::ordered_json;
using RunState = StudiedRun::State;

std::string states_of(const StudiedStrategy& strategy) {
  std::string text = strategy.finished == strategy.runs.size() && strategy.finished > 0
                         ? fmt::format("{}", strategy.finished)
                         : fmt::format("{} of {}", strategy.finished, strategy.runs.size());
  for (const RunState state : {RunState::diverged, RunState::failed, RunState::unfinished})
    if (const auto count = std::ranges::count(strategy.runs, state, &StudiedRun::state); count > 0)
      text += fmt::format(", {} {}", count, state_name(state));
  return text;
}

std::string interval_text(const SeedMean& mean) {
  if (mean.seeds == 0) return "";
  if (mean.seeds == 1) return fmt::format("{:.4g}", mean.mean);
  return fmt::format("{:.4g} [{:.4g}, {:.4g}]", mean.mean, mean.low, mean.high);
}

// The median and the whole range, of sorted values.
std::string range_text(const std::vector<double>& values) {
  if (values.empty()) return "";
  std::string text = fmt::format("{:.4g}", values[values.size() / 2]);
  if (values.size() > 1) text += fmt::format(" [{:.4g}, {:.4g}]", values.front(), values.back());
  return text;
}

std::string time_to_target(const StudiedStrategy& strategy) {
  const std::vector<double>& times = strategy.to_target;
  if (strategy.finished == 0) return "";
  if (times.empty()) return "not reached";
  std::string text = short_seconds(times[times.size() / 2]);
  if (times.size() > 1) text += fmt::format(" [{}, {}]", short_seconds(times.front()), short_seconds(times.back()));
  if (times.size() < strategy.finished) text += fmt::format(", {} of {} runs", times.size(), strategy.finished);
  return text;
}

template <class Of>
std::optional<double> mean_of_runs(const StudiedStrategy& strategy, Of of) {
  std::vector<double> values;
  for (const StudiedRun& run : strategy.runs)
    if (const std::optional<double> value = of(run); value && run.state == RunState::finished) values.push_back(*value);
  return values.empty() ? std::nullopt : std::optional(mean_of_seeds(values).mean);
}

std::string memory_of(const StudiedStrategy& strategy) {
  double most = 0;
  for (const StudiedRun& run : strategy.runs) most = std::max(most, run.memory_bytes);
  return most > 0 ? human_bytes(most) : "";
}

std::string number_field(const std::optional<double>& value) { return value ? fmt::format("{:.9g}", *value) : ""; }

StudyJson mean_json(const SeedMean& mean) {
  if (mean.seeds == 0) return nullptr;
  return {{"mean", mean.mean}, {"low", mean.low}, {"high", mean.high}, {"seeds", mean.seeds}};
}

StudyJson run_json(const StudiedRun& run) {
  const auto maybe = [](const std::optional<double>& value) { return value ? StudyJson(*value) : StudyJson(nullptr); };
  return {{"seed", run.run.seed},
          {"folder", run.run.folder.filename().string()},
          {"state", state_name(run.state)},
          {"reason", run.reason},
          {"result", maybe(run.result)},
          {"seconds_to_target", maybe(run.to_target)},
          {"seconds", run.seconds},
          {"samples_per_second", run.samples_per_second},
          {"bytes_sent_per_step", maybe(run.bytes_sent)},
          {"memory_bytes", run.memory_bytes},
          {"staleness", maybe(run.staleness)},
          {"exchanged", run.exchanged}};
}

}  // namespace

const char* state_name(RunState state) {
  switch (state) {
    case RunState::finished: return "finished";
    case RunState::diverged: return "diverged";
    case RunState::failed: return "failed";
    case RunState::unfinished: break;
  }
  return "unfinished";
}

std::vector<StudyColumn> study_columns(const StrategyStudy& study) {
  std::vector<StudyColumn> columns;
  const auto add = [&](std::string name, auto of) {
    StudyColumn column{std::move(name), {}};
    for (const StudiedStrategy& strategy : study.strategies) column.values.push_back(of(strategy));
    columns.push_back(std::move(column));
  };
  using Row = const StudiedStrategy&;
  add("runs", states_of);
  if (!study.metric.empty())
    add(study.judged_on + " " + study.metric, [](Row row) { return interval_text(row.result); });
  if (study.target) add("time to " + study.target->str(), time_to_target);
  add("samples/s", [](Row row) { return range_text(row.speeds); });
  add("sent in a step", [](Row row) {
    const auto bytes = mean_of_runs(row, [](const StudiedRun& run) { return run.bytes_sent; });
    return bytes ? human_bytes(*bytes) : "";
  });
  add("staleness", [](Row row) {
    const auto age = mean_of_runs(row, [](const StudiedRun& run) { return run.staleness; });
    return age ? fmt::format("{:.2f}", *age) : "";
  });
  add("memory", memory_of);
  return columns;
}

std::vector<std::string> study_notes(const StrategyStudy& study) {
  std::vector<std::string> notes;
  for (const StudiedStrategy& strategy : study.strategies)
    for (const StudiedRun& run : strategy.runs)
      if (run.state != RunState::finished)
        notes.push_back(fmt::format("{}, seed {}: {}{}", strategy.name, run.run.seed, state_name(run.state),
                                    run.reason.empty() ? "" : ": " + run.reason));
  if (study.target && !study.setting.target)
    notes.push_back(
        fmt::format("No target was named: {} is what all runs that finished reached.", study.target->str()));
  if (!study.setting.slow.empty())
    notes.push_back(fmt::format("Ranks were made slower for this comparison: {} (rank:times).", study.setting.slow));
  return notes;
}

std::string study_text(const StrategyStudy& study) {
  std::string text = fmt::format("{} on {} ranks\n", study.setting.recipe, study.setting.ranks);
  std::vector<StudyColumn> columns = study_columns(study);
  columns.insert(columns.begin(), {"strategy", study.setting.strategies});
  std::vector<std::string> lines(study.strategies.size() + 1);
  for (const StudyColumn& column : columns) {
    std::size_t width = column.name.size();
    for (const std::string& value : column.values) width = std::max(width, value.size());
    const bool first = &column == columns.data();
    lines[0] += fmt::format("{}{:<{}}", first ? "" : "  ", column.name, width);
    for (std::size_t i = 0; i < column.values.size(); ++i)
      lines[i + 1] +=
          fmt::format("{}{:<{}}", first ? "" : "  ", column.values[i].empty() ? "-" : column.values[i], width);
  }
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += "\n";
  if (std::ranges::any_of(study.strategies, [](const auto& s) { return s.result.seeds > 1; }))
    text += "results are means over seeds with 95 % intervals; times and speeds are medians with their whole range\n";
  for (const std::string& note : study_notes(study)) text += "note: " + note + "\n";
  return text;
}

std::string study_csv(const StrategyStudy& study) {
  std::string text =
      "strategy,seed,state,metric,result,target,seconds_to_target,seconds,samples_per_second,bytes_sent_per_step,"
      "memory_bytes,staleness,reason\n";
  for (const StudiedStrategy& strategy : study.strategies)
    for (const StudiedRun& run : strategy.runs)
      text += fmt::format("{},{},{},{},{},{},{},{:.9g},{:.9g},{},{:.0f},{},{}\n", record::csv_field(strategy.name),
                          run.run.seed, state_name(run.state), study.metric, number_field(run.result),
                          study.target ? study.target->str() : "", number_field(run.to_target), run.seconds,
                          run.samples_per_second, number_field(run.bytes_sent), run.memory_bytes,
                          number_field(run.staleness), record::csv_field(one_line(run.reason, 400)));
  return text;
}

std::string study_json(const StrategyStudy& study) {
  StudyJson strategies = StudyJson::array();
  for (const StudiedStrategy& strategy : study.strategies) {
    StudyJson runs = StudyJson::array();
    for (const StudiedRun& run : strategy.runs) runs.push_back(run_json(run));
    strategies.push_back({{"strategy", strategy.name},
                          {"finished", strategy.finished},
                          {"result", mean_json(strategy.result)},
                          {"samples_per_second", strategy.speeds},
                          {"seconds_to_target", strategy.to_target},
                          {"runs", std::move(runs)}});
  }
  const StudyJson all{{"recipe", study.setting.recipe},
                      {"ranks", study.setting.ranks},
                      {"slow", study.setting.slow},
                      {"metric", study.metric},
                      {"judged_on", study.judged_on},
                      {"target", study.target ? study.target->str() : ""},
                      {"target_named", study.setting.target.has_value()},
                      {"strategies", std::move(strategies)}};
  return all.dump(2, ' ', false, StudyJson::error_handler_t::replace) + "\n";
}

}  // namespace isobar::report
