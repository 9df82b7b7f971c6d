// Feeds: the fields of a data set's batches as the inputs of a plan, matched by name. Training, evaluation and
// inference feed their networks by these functions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "isobar/feeding/loader.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::train {

/// The shape of one sample of an input or output of the plan, whose first axis is the batch.
Shape sample_shape(const Shape& batch);

/// The shape of one sample of the field called `name`; null if there is none.
const Shape* shape_of(const std::vector<datasets::Field>& fields, std::string_view name);

/// Throws Error unless the data set has all of these fields.
void expect_fields(const std::vector<datasets::Field>& wanted, const datasets::Dataset& dataset,
                   const std::string& what);
/// The inputs of a plan as fields of a sample.
std::vector<datasets::Field> fields_of(const graph::Plan& plan);
/// Throws Error unless the data set has every input of the plan with the right shape.
inline void expect_fields(const graph::Plan& plan, const datasets::Dataset& dataset, const std::string& what) {
  expect_fields(fields_of(plan), dataset, what);
}

/// The rows of a batch from `first_row` on, as memory by field name, for the inputs of the plan.
std::vector<std::pair<std::string, std::span<const float>>> named_inputs(const graph::Plan& plan,
                                                                         const datasets::Dataset& dataset,
                                                                         const feeding::Batch& batch,
                                                                         std::int64_t first_row = 0);

/// The numbers of a field in the rows of a batch that hold samples; empty if there is no such field.
std::span<const float> first_rows(const datasets::Dataset& dataset, const feeding::Batch& batch, std::string_view name);

}  // namespace isobar::train
