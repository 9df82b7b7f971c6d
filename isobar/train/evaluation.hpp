// Evaluation: the test set through the inference plan, every sample once on one of the ranks, also when the last batch
// is not full. What ranks gathered is put together on rank 0, predictions in the order of the samples.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/feeding/loader.hpp"
#include "isobar/train/job.hpp"

namespace isobar::train {

/// Loss and metrics by name, the same on all ranks; on rank 0, when they are few enough to keep, what was predicted.
struct Evaluated {
  std::map<std::string, double> results{};
  std::vector<float> predictions{}, targets{};  ///< row by row; empty when there are more than max_kept_predictions
  bool complete = true;                         ///< false when it was stopped
  std::int64_t skipped = 0;                     ///< bad samples left out, where that is allowed
};

inline constexpr std::int64_t max_kept_predictions = 1 << 22;

/// Runs the whole test set, whose targets are its field "y"; a plan without a loss gives metrics alone. When `stop` is
/// set on some rank it ends early and the result is not complete. All ranks must call.
Evaluated evaluate(exec::Executor& executor, const Job& job, comm::Comm& comm, const std::atomic<bool>* stop);

/// The memory of some rows of a batch's fields under the names of the data set, for the inputs the plan has.
std::vector<std::pair<std::string, std::span<const float>>> named_inputs(const graph::Plan& plan,
                                                                         const datasets::Dataset& dataset,
                                                                         const feeding::Batch& batch,
                                                                         std::int64_t first_row = 0);

/// The numbers of a field in the rows of a batch that hold samples; empty when samples have no such field.
std::span<const float> first_rows(const datasets::Dataset& dataset, const feeding::Batch& batch, std::string_view name);

/// One sample of the field of a data set with a name, if it has one.
const Shape* shape_of(const std::vector<datasets::Field>& fields, std::string_view name);

/// Makes the metrics ready for the plan's predictions and the targets of the test set; one that does not fit them is an
/// Error.
void reset_metrics(const graph::Plan& plan, const Job& job);

/// One sample of an input or output of the plan, whose first axis is the batch.
Shape sample_shape(const Shape& batch);

/// Throws Error unless the data set has every input of the plan with the right shape.
void expect_fields(const graph::Plan& plan, const datasets::Dataset& dataset, const std::string& what);

}  // namespace isobar::train
