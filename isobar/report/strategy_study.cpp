#include "isobar/report/strategy_study.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "isobar/base/text.hpp"
#include "isobar/report/run_curves.hpp"

namespace isobar::report {
namespace {

// A run whose training loss ends so many times above its beginning has diverged, even if all numbers are finite.
constexpr double diverged_times = 2;

// The 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
constexpr std::array student{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                             2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                             2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

double student_t(std::size_t freedom) {
  return freedom <= student.size() ? student[freedom - 1] : 1.96 + 2.4 / static_cast<double>(freedom);
}

// A run as it is read: the record is only needed while curves are made.
struct ReadRun {
  record::RunRecord record{};
  Ledger ledger{};
  std::vector<Evaluation> evaluations{};
};

double mean_loss(std::span<const record::StepRecord> steps) {
  double sum = 0;
  for (const record::StepRecord& step : steps) sum += step.loss;
  return sum / static_cast<double>(steps.size());
}

// Why a run that ended by itself has no good result; empty if it has one.
std::string divergence_of(const record::RunRecord& run) {
  if (run.steps.empty()) return "";
  const std::span<const record::StepRecord> steps(run.steps);
  const std::size_t tenth = std::max<std::size_t>(1, steps.size() / 10);
  const double first = mean_loss(steps.first(tenth)), last = mean_loss(steps.last(tenth));
  if (std::isfinite(last) && (last <= diverged_times * first || first <= 0)) return "";
  return fmt::format("the training loss is {:.4g} at the end and was {:.4g} at the beginning", last, first);
}

void judge_state(const ReadRun& read, StudiedRun& studied) {
  using State = StudiedRun::State;
  const record::RunRecord& run = read.record;
  if (!studied.run.failure.empty()) {
    studied.state = State::failed;
    studied.reason = studied.run.failure;
  } else if (run.reason != "finished") {
    studied.state = State::unfinished;
    studied.reason = run.steps.empty() ? "not begun" : fmt::format("stopped after {} steps", run.steps.back().step);
  } else if (const std::string why = divergence_of(run); !why.empty()) {
    studied.state = State::diverged;
    studied.reason = why;
  } else {
    studied.state = State::finished;
  }
}

// The time of a session ends when the last rank has: that of its steps alone would be that of the first team.
void read_costs(const ReadRun& read, StudiedRun& studied) {
  const record::RunRecord& run = read.record;
  double sessions = 0;
  for (const record::RecordedSession& session : run.sessions) sessions += session.seconds.value_or(0);
  const double staging = read.ledger.staging_seconds();
  studied.seconds = std::max(sessions, read.ledger.kept_seconds() + staging);
  const auto samples = static_cast<double>(run.planned_epochs * run.steps_per_epoch * run.global_batch);
  if (studied.seconds > staging) studied.samples_per_second = samples / (studied.seconds - staging);
  double bytes = 0;
  for (const record::StepRecord& step : run.steps) bytes += static_cast<double>(step.bytes_sent);
  if (!run.steps.empty()) studied.bytes_sent = bytes / static_cast<double>(run.steps.size());
  studied.memory_bytes = studied.run.peak_bytes > 0 ? studied.run.peak_bytes : run.arena_bytes + run.weight_bytes;
  if (!run.sessions.empty()) studied.exchanged = run.sessions.back().exchanged;
  studied.staleness = staleness_in(studied.exchanged);
}

bool is_good(const StudiedRun& run) { return run.state == StudiedRun::State::finished; }

// What every run that finished has reached at least once, so that each has a time.
std::optional<train::Target> reached_by_all(const StrategyStudy& study, const std::vector<std::vector<ReadRun>>& read) {
  if (study.metric.empty()) return std::nullopt;
  const bool larger = train::larger_is_better(study.metric);
  std::optional<double> worst;
  for (std::size_t s = 0; s < read.size(); ++s)
    for (std::size_t r = 0; r < read[s].size(); ++r) {
      if (!is_good(study.strategies[s].runs[r])) continue;
      std::optional<double> best;
      for (const Evaluation& evaluation : read[s][r].evaluations)
        if (const auto found = evaluation.values.find(study.metric); found != evaluation.values.end())
          best = !best ? found->second : larger ? std::max(*best, found->second) : std::min(*best, found->second);
      if (!best) return std::nullopt;
      worst = !worst ? *best : larger ? std::min(*worst, *best) : std::max(*worst, *best);
    }
  if (!worst) return std::nullopt;
  return train::Target{study.metric, larger, *worst};
}

void read_results(const StrategyStudy& study, const ReadRun& read, StudiedRun& studied) {
  if (!read.evaluations.empty()) {
    const auto& last = read.evaluations.back().values;
    if (const auto value = last.find(study.metric); value != last.end()) studied.result = value->second;
  }
  if (!study.target) return;
  if (const Evaluation* first = first_to_reach(read.evaluations, *study.target))
    studied.to_target = first->seconds + read.ledger.staging_seconds();
}

void sum_up(StudiedStrategy& strategy) {
  std::vector<double> results;
  for (const StudiedRun& run : strategy.runs) {
    if (!is_good(run)) continue;
    ++strategy.finished;
    if (run.result) results.push_back(*run.result);
    if (run.to_target) strategy.to_target.push_back(*run.to_target);
    strategy.speeds.push_back(run.samples_per_second);
  }
  std::ranges::sort(strategy.to_target);
  strategy.result = mean_of_seeds(results);
  std::ranges::sort(strategy.speeds);
}

// The mean of curves of the same points, as far as all of them go.
Curve mean_curve(const std::string& name, const std::vector<Curve>& curves) {
  Curve mean{name};
  if (curves.empty()) return mean;
  mean.drawn = curves[0].drawn;
  std::size_t points = curves[0].values.size();
  for (const Curve& curve : curves) points = std::min(points, curve.values.size());
  for (std::size_t i = 0; i < points; ++i) {
    double x = 0, y = 0;
    for (const Curve& curve : curves) x += curve.epochs[i], y += curve.values[i];
    mean.epochs.push_back(x / static_cast<double>(curves.size()));
    mean.values.push_back(y / static_cast<double>(curves.size()));
  }
  return mean;
}

// Runs that failed or were stopped have no part in the means.
template <class Of>
void add_panel(StrategyStudy& study, const std::vector<std::vector<ReadRun>>& read, const std::string& title,
               const Along& along, Of of) {
  Panel panel{title, {}, along.name};
  for (std::size_t s = 0; s < read.size(); ++s) {
    std::vector<Curve> curves;
    for (std::size_t r = 0; r < read[s].size(); ++r)
      if (is_good(study.strategies[s].runs[r])) curves.push_back(of(study.strategies[s].name, read[s][r], along));
    panel.curves.push_back(mean_curve(study.strategies[s].name, curves));
  }
  if (choose_unit(panel)) study.panels.push_back(std::move(panel));
}

void add_panels(StrategyStudy& study, const std::vector<std::vector<ReadRun>>& read) {
  for (const Along* along : {&along_samples, &along_seconds})
    add_panel(study, read, "training loss", *along, [](const std::string& name, const ReadRun& run, const Along& over) {
      return loss_curve(name, run.record, over);
    });
  if (study.metric.empty()) return;
  for (const Along* along : {&along_samples, &along_seconds})
    add_panel(study, read, study.judged_on + " " + study.metric, *along,
              [&](const std::string& name, const ReadRun& run, const Along& over) {
                return result_curve(name, run.record, run.evaluations, study.metric, over);
              });
}

ReadRun read_study_run(const StudyRun& run) {
  ReadRun read;
  if (!record::is_run(run.folder)) return read;
  read.record = record::read_run(run.folder);
  read.ledger = read_ledger(run.folder);
  read.evaluations = judging_evaluations_of(read.record, read.ledger);
  return read;
}

}  // namespace

SeedMean mean_of_seeds(std::span<const double> values) {
  SeedMean mean{.seeds = values.size()};
  if (values.empty()) return mean;
  const auto count = static_cast<double>(values.size());
  mean.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean.mean) * (value - mean.mean);
  const double half = values.size() < 2 ? 0 : student_t(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  mean.low = mean.mean - half, mean.high = mean.mean + half;
  return mean;
}

// As parallel::ServingCounts::summary() words it.
std::optional<double> staleness_in(const std::string& exchanged) {
  static constexpr std::string_view before = "gradients were ", after = " updates old on average";
  const std::size_t begin = exchanged.find(before), end = exchanged.find(after);
  if (begin == std::string::npos || end == std::string::npos || end < begin + before.size()) return std::nullopt;
  const std::string number = exchanged.substr(begin + before.size(), end - begin - before.size());
  char* rest = nullptr;
  const double value = std::strtod(number.c_str(), &rest);
  return rest == number.c_str() + number.size() && !number.empty() ? std::optional(value) : std::nullopt;
}

StrategyStudy study_strategies(const StudySetting& setting, std::span<const StudyRun> runs) {
  StrategyStudy study{setting};
  std::vector<std::vector<ReadRun>> read;
  for (const std::string& name : setting.strategies) {
    StudiedStrategy& strategy = study.strategies.emplace_back(StudiedStrategy{name});
    std::vector<ReadRun>& of_strategy = read.emplace_back();
    for (const StudyRun& run : runs) {
      if (run.strategy != name) continue;
      ReadRun& one = of_strategy.emplace_back(read_study_run(run));
      StudiedRun& studied = strategy.runs.emplace_back(StudiedRun{run});
      judge_state(one, studied);
      read_costs(one, studied);
      if (study.metric.empty()) study.metric = judged_by(one.record, one.evaluations);
      if (record::has_validation(one.record.recipe)) study.judged_on = "validation";
    }
  }
  if (setting.target) study.metric = setting.target->metric;
  study.target = setting.target ? setting.target : reached_by_all(study, read);
  for (std::size_t s = 0; s < read.size(); ++s) {
    for (std::size_t r = 0; r < read[s].size(); ++r) read_results(study, read[s][r], study.strategies[s].runs[r]);
    sum_up(study.strategies[s]);
  }
  add_panels(study, read);
  return study;
}

}  // namespace isobar::report
