#include "isobar/report/comparison.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/report/scaling.hpp"

namespace isobar::report {
namespace {

namespace fs = std::filesystem;

fs::path whole_path(const fs::path& folder) {
  std::error_code none;
  return fs::weakly_canonical(folder, none);
}

// The distinct values of a property, in the order of the runs.
template <class F>
std::vector<std::string> kinds(const Comparison& comparison, F of) {
  std::vector<std::string> found;
  for (const ComparedRun& run : comparison.runs)
    if (const std::string kind = of(run); std::ranges::find(found, kind) == found.end()) found.push_back(kind);
  return found;
}

std::string processor_of(const ComparedRun& run) {
  for (const auto& [name, value] : run.record.machine)
    if (name == "processor") return value;
  return "";
}

void note_differences(Comparison& comparison) {
  const auto differ = [&](auto of, const char* format) {
    if (const auto found = kinds(comparison, of); found.size() > 1)
      comparison.notes.push_back(fmt::format(fmt::runtime(format), one_line(join(found, "; "), 240)));
  };
  const std::size_t before = comparison.notes.size();
  differ(
      [](const ComparedRun& run) { return run.record.model_name(); },
      "The networks differ ({}): samples/s, FLOPs, losses and metrics are of different work and do not compare; shares "
      "of time and of the peak do.");
  if (comparison.notes.size() == before)
    differ([](const ComparedRun& run) { return with_commas(run.record.parameters) + " parameters"; },
           "The networks are of different size ({}): samples/s compare different work; FLOP/s and shares compare.");
  differ([](const ComparedRun& run) { return run.record.inputs.empty() ? "" : run.record.inputs[0].second; },
         "Samples are of different size ({}): samples/s compare different work.");
  differ([](const ComparedRun& run) { return training_data(run.record.recipe); },
         "Trained on different data ({}): losses over steps do not compare.");
  const auto setting = [](std::string_view section, std::string_view key) {
    return [=](const ComparedRun& run) { return recipe_text(run.record.recipe, section, key); };
  };
  differ(setting("data", "test"), "Tested on different data ({}): test results do not compare.");
  differ(setting("data", "validation"), "Judged on different validation sets ({}): times to a target do not compare.");
  differ(setting("", "loss"), "The losses are different functions ({}): their values do not compare.");
  differ([](const ComparedRun& run) { return processor_of(run); },
         "The processors differ ({}): so do speeds for that reason alone.");
}

void note_states(Comparison& comparison) {
  for (const ComparedRun& run : comparison.runs) {
    if (run.record.reason == "interrupted")
      comparison.notes.push_back(fmt::format("{} was interrupted after {} steps.", run.label, run.ledger.steps));
    else if (run.record.reason.empty())
      comparison.notes.push_back(
          fmt::format("{} has not ended: it is running or was killed, after {} steps.", run.label, run.ledger.steps));
    for (const Setup& setup : run.ledger.setups)
      if (!(setup == run.ledger.setups[0])) {
        comparison.notes.push_back(
            fmt::format("{} was resumed with other ranks, threads or batch: its speed is of both.", run.label));
        break;
      }
  }
  if (kinds(comparison, [](const ComparedRun& run) { return with_commas(run.ledger.samples); }).size() > 1)
    comparison.notes.push_back(
        "The runs saw different numbers of samples: compare results with the curves over samples and over time.");
}

void find_scaling(Comparison& comparison, std::span<const fs::path> folders) {
  std::vector<Spread> spreads;
  bool ended = true, same = true;
  for (const ComparedRun& run : comparison.runs) {
    spreads.push_back({run.record.ranks, run.record.global_batch});
    ended = ended && run.record.reason == "finished" && run.ledger.steps > 0 && run.ledger.setups.size() == 1;
    same = same && same_but_batch(run.record.recipe, comparison.runs[0].record.recipe);
  }
  const bool different = std::ranges::any_of(spreads, [&](const Spread& s) { return s.ranks != spreads[0].ranks; });
  if (!different) return;
  const auto kind = scaling_of(spreads);
  if (!same || !kind) {
    comparison.notes.push_back(
        same ? "Ranks differ, and neither the global batch nor that of a rank stays: neither strong nor weak scaling, "
               "so no efficiency is given."
             : "Ranks differ, and more than the batch: this is not a scaling study, so no efficiency is given.");
    return;
  }
  comparison.scaling = kind;
  if (ended) comparison.study = read_scaling(folders, *kind);
  else comparison.notes.push_back("Efficiency is given once all runs have ended by themselves, without a restart.");
}

// A metric by which one run is judged and that all runs have.
void find_metric(Comparison& comparison) {
  for (const ComparedRun& run : comparison.runs) {
    const std::string metric = judged_by(run.record, run.evaluations);
    const bool common = std::ranges::all_of(comparison.runs, [&](const ComparedRun& other) {
      return !other.evaluations.empty() && other.evaluations.back().values.contains(metric);
    });
    if (!common) continue;
    comparison.metric = metric;
    return;
  }
}

// The best evaluation of a run, by the metric of the comparison.
double best_of(const Comparison& comparison, const ComparedRun& run, bool larger) {
  double best = run.judging[0].values.at(comparison.metric);
  for (const Evaluation& evaluation : run.judging)
    if (const auto value = evaluation.values.find(comparison.metric); value != evaluation.values.end())
      best = larger ? std::max(best, value->second) : std::min(best, value->second);
  return best;
}

// The target in the recipes; otherwise what every run reached, so that each has a time.
void find_target(Comparison& comparison) {
  if (comparison.metric.empty()) return;
  comparison.target = target_of(comparison.runs[0].record);
  comparison.target_origin = "set in the recipe";
  for (const ComparedRun& run : comparison.runs) {
    const auto other = target_of(run.record);
    if (!other || !comparison.target || other->str() != comparison.target->str()) comparison.target.reset();
  }
  if (comparison.target) return;
  const bool larger = train::larger_is_better(comparison.metric);
  train::Target reached{comparison.metric, larger, 0};
  for (const ComparedRun& run : comparison.runs) {
    if (run.judging.empty() || !run.judging[0].values.contains(comparison.metric)) return;
    const double best = best_of(comparison, run, larger);
    const bool first = &run == comparison.runs.data();
    reached.value = first ? best : larger ? std::min(reached.value, best) : std::max(reached.value, best);
  }
  comparison.target = reached;
  comparison.target_origin = "what all of them reached";
}

}  // namespace

fs::path common_parent(std::span<const fs::path> folders) {
  fs::path common = whole_path(folders[0]).parent_path();
  for (const fs::path& folder : folders) {
    const fs::path other = whole_path(folder).parent_path();
    const auto [end, unused] = std::mismatch(common.begin(), common.end(), other.begin(), other.end());
    fs::path shared;
    for (auto part = common.begin(); part != end; ++part) shared /= *part;
    common = shared;
  }
  return common;
}

Comparison compare(std::span<const fs::path> folders) {
  expects(folders.size() >= 2, "two runs to compare");
  Comparison comparison;
  const fs::path parent = common_parent(folders);
  std::set<fs::path> seen;
  std::vector<Spec> recipes;
  for (const fs::path& folder : folders) {
    if (!seen.insert(whole_path(folder)).second)
      fail_usage("report: the run '{}' is named twice; a comparison needs different runs", folder.string());
    ComparedRun run{.label = whole_path(folder).lexically_relative(parent).string(),
                    .record = record::read_run(folder)};
    run.ledger = read_ledger(folder);
    run.evaluations = evaluations_of(run.record, run.ledger);
    run.judging = judging_evaluations_of(run.record, run.ledger);
    run.card = run_card(run.record);
    recipes.push_back(run.record.recipe);
    comparison.runs.push_back(std::move(run));
  }
  comparison.differences = recipe_differences(recipes);
  note_differences(comparison);
  note_states(comparison);
  find_scaling(comparison, folders);
  find_metric(comparison);
  find_target(comparison);
  return comparison;
}

}  // namespace isobar::report
