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

/// One sample of an input or output of the plan, whose first axis is the batch.
Shape sample_shape(const Shape& batch);

/// One sample of the field of a data set with a name, if it has one.
const Shape* shape_of(const std::vector<datasets::Field>& fields, std::string_view name);

/// Throws Error unless the data set has every input of the plan with the right shape.
void expect_fields(const graph::Plan& plan, const datasets::Dataset& dataset, const std::string& what);

/// The memory of some rows of a batch's fields under the names of the data set, for the inputs the plan has.
std::vector<std::pair<std::string, std::span<const float>>> named_inputs(const graph::Plan& plan,
                                                                         const datasets::Dataset& dataset,
                                                                         const feeding::Batch& batch,
                                                                         std::int64_t first_row = 0);

/// The numbers of a field in the rows of a batch that hold samples; empty when samples have no such field.
std::span<const float> first_rows(const datasets::Dataset& dataset, const feeding::Batch& batch, std::string_view name);

}  // namespace isobar::train
