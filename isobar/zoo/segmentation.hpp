// Shared by the networks that segment climate images: checks of image sizes, and class weights.
#pragma once

#include <cstdint>

#include "isobar/base/spec.hpp"

namespace isobar::zoo {

/// Throws UsageError unless height and width are multiples of `step`, the factor by which the network shrinks them.
void require_steps(const Args& args, std::int64_t height, std::int64_t width, std::int64_t step);

/// 0.1 times the cross entropy summed over pixels, as in the exascale runs of 2018. Three classes are background,
/// cyclone and river, weighted by 1/0.991, 1/0.0266 and 1/0.13 (inverse roots of their frequencies), divided by the sum
/// of these weights.
Spec exascale_loss(std::int64_t classes);

}  // namespace isobar::zoo
