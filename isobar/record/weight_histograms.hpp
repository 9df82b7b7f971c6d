// Histograms of what a network has learned: of every weight and of the gradient of the last step, in plain layout, so
// that the padding of blocked layouts is not counted.
#pragma once

#include <span>

#include "isobar/exec/param_store.hpp"
#include "isobar/files/event_file.hpp"

namespace isobar::record {

/// How numbers are spread over 64 equal parts of their range, or one when all are equal; those that are not finite are
/// left out. Without any the count is 0.
files::Histogram histogram_of(std::span<const float> numbers);

/// Adds weights/<name> and, of those that are trained, gradients/<name>.
void add_weight_histograms(files::EventSummary& summary, const exec::ParamStore& store);

}  // namespace isobar::record
