// Quality: how good a run's network is on the test and validation sets, when this was measured, and which metric
// counts.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/record/run_record.hpp"
#include "isobar/report/ledger.hpp"
#include "isobar/train/target.hpp"

namespace isobar::report {

/// An evaluation of the network, during the run or at its end.
struct Evaluation {
  std::int64_t epoch = 0, step = 0;
  std::map<std::string, double> values{};
  double seconds = 0;  ///< from the first step to its result: steps, evaluations and checkpoints
};

/// All finished evaluations of the test set, in order.
std::vector<Evaluation> evaluations_of(const record::RunRecord& run, const Ledger& ledger);
/// Those by which choices are made and targets are reached: of the validation set, where the recipe has one.
std::vector<Evaluation> judging_evaluations_of(const record::RunRecord& run, const Ledger& ledger);

/// The value by which a run is judged: that of its target or its published reference if there is one, else its first
/// metric, else the loss; empty if nothing was evaluated.
std::string judged_by(const record::RunRecord& run, std::span<const Evaluation> evaluations);

/// The first evaluation that reached a target, or null.
const Evaluation* first_to_reach(std::span<const Evaluation> evaluations, const train::Target& target);

/// The target in the recipe.
std::optional<train::Target> target_of(const record::RunRecord& run);

/// The metrics of the recipe, as written there: iou(kind=sample).
std::vector<std::string> metrics_of(const record::RunRecord& run);

}  // namespace isobar::report
