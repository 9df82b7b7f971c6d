// Histograms of every weight and of the gradients of the last step, in plain layout, so that the padding of blocked
// layouts is not counted.
#pragma once

#include <span>

#include "isobar/exec/param_store.hpp"
#include "isobar/files/event_file.hpp"

namespace isobar::record {

/// A histogram with 64 equal bins over the range of the numbers, or one bin when all are equal; numbers that are not
/// finite are ignored. Without finite numbers the count is 0.
files::Histogram histogram_of(std::span<const float> numbers);

/// Adds weights/<name> and, for trained weights, gradients/<name>.
void add_weight_histograms(files::EventSummary& summary, const exec::ParamStore& store);

}  // namespace isobar::record
