#include "isobar/report/quality.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/record/choices.hpp"
#include "isobar/report/references.hpp"
#include "isobar/train/validation.hpp"

namespace isobar::report {
namespace {

Args section(const record::RunRecord& run, std::string_view name) {
  Args root(run.recipe, "recipe");
  return run.recipe.find(name) ? root.section(name) : Args(Spec(std::string(name), {}), "section");
}

double seconds_until(const Ledger& ledger, std::int64_t epoch) {
  const auto found = std::ranges::find(ledger.epochs, epoch, &std::pair<std::int64_t, double>::first);
  return found == ledger.epochs.end() ? ledger.kept_seconds() : found->second;
}

}  // namespace

std::vector<Evaluation> evaluations_of(const record::RunRecord& run, const Ledger& ledger) {
  std::vector<Evaluation> evaluations;
  for (const record::EpochRecord& epoch : run.epochs)
    if (!epoch.test.empty())
      evaluations.push_back({epoch.epoch, epoch.step, epoch.test, seconds_until(ledger, epoch.epoch)});
  // A run that was resumed after its last epoch evaluates once more.
  const bool known = !evaluations.empty() && evaluations.back().values == run.test;
  if (!run.test.empty() && !known && !run.steps.empty())
    evaluations.push_back(
        {run.epochs.empty() ? 0 : run.epochs.back().epoch, run.steps.back().step, run.test, ledger.kept_seconds()});
  return evaluations;
}

std::vector<Evaluation> judging_evaluations_of(const record::RunRecord& run, const Ledger& ledger) {
  if (!record::has_validation(run.recipe)) return evaluations_of(run, ledger);
  std::vector<Evaluation> evaluations;
  for (const record::EpochRecord& epoch : run.epochs)
    if (!epoch.validation.empty())
      evaluations.push_back({epoch.epoch, epoch.step, epoch.validation, seconds_until(ledger, epoch.epoch)});
  return evaluations;
}

std::string judged_by(const record::RunRecord& run, std::span<const Evaluation> evaluations) {
  if (evaluations.empty()) return "";
  const std::map<std::string, double>& values = evaluations.back().values;
  if (const auto target = target_of(run); target && values.contains(target->metric)) return target->metric;
  if (const Reference* reference = reference_of(run.model_name()); reference && reference->target())
    if (values.contains(reference->target()->metric)) return reference->target()->metric;
  for (const std::string& metric : metrics_of(run))
    for (const auto& [name, value] : values)
      if (name == Spec(metric).name() || (Spec(metric).name() == "top_k" && name.starts_with("top_"))) return name;
  for (const auto& [name, value] : values)
    if (name != "loss" && name.find('.') == std::string::npos) return name;
  return values.contains("loss") ? "loss" : values.begin()->first;
}

const Evaluation* first_to_reach(std::span<const Evaluation> evaluations, const train::Target& target) {
  const auto found = std::ranges::find_if(evaluations, [&](const Evaluation& evaluation) {
    const auto value = evaluation.values.find(target.metric);
    return value != evaluation.values.end() && target.reached(value->second);
  });
  return found == evaluations.end() ? nullptr : &*found;
}

std::optional<train::Target> target_of(const record::RunRecord& run) {
  Args report = section(run, "report");
  const std::string text = report.text("target", "");
  if (text.empty()) return std::nullopt;
  train::Target target = train::read_target(text);
  target.metric = train::judged_name(target.metric);
  return target;
}

std::vector<std::string> metrics_of(const record::RunRecord& run) { return section(run, "train").texts("metrics", {}); }

}  // namespace isobar::report
