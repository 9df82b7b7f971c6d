// Evaluation: runs a test or validation set through the inference plan, every sample once on one of the replicas, even
// if the last batch is not full. Rank 0 gathers the results of all ranks, predictions in the order of the samples.
// Where several ranks predict together, because a model is cut or predictions are averaged, the first of them gathers
// predictions and reads whole targets: it holds those of one batch.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/feeding/loader.hpp"
#include "isobar/train/job.hpp"
#include "isobar/train/predictor.hpp"

namespace isobar::train {

/// Loss and metrics by name, the same on all ranks; on rank 0 also the predictions, if they are few enough to keep.
struct Evaluated {
  std::map<std::string, double> results{};
  std::vector<float> predictions{}, targets{};  ///< row by row; empty when there are more than max_kept_predictions
  bool complete = true;                         ///< false if it was stopped
  std::int64_t skipped = 0;                     ///< bad samples left out, where that is allowed
};

inline constexpr std::int64_t max_kept_predictions = 1 << 22;

/// A set that is evaluated.
struct EvaluatedSet {
  std::shared_ptr<const datasets::Dataset> data;  ///< with transforms
  std::string_view name = "data.test";            ///< for messages
};

/// Runs a whole set, whose targets are its field "y"; a plan without a loss gives only metrics. If `stop` is set
/// on some rank, it ends early and the result is not complete. Ranks that predict together follow each other in `comm`.
/// All ranks must call.
Evaluated evaluate(Predictor& predictor, const Job& job, const EvaluatedSet& set, comm::Comm& comm,
                   const std::atomic<bool>* stop);

/// Prepares the metrics for whole predictions of this shape and the targets of a set; a metric that does not fit them
/// is an Error.
void reset_metrics(const Shape& prediction, const Job& job, const datasets::Dataset& set);

}  // namespace isobar::train
