// What the networks that segment climate images share: their image sizes and their class weights.
#pragma once

#include <cstdint>

#include "isobar/base/spec.hpp"

namespace isobar::zoo {

/// Throws UsageError unless height and width are whole multiples of `step`, by which the network shrinks them.
void require_steps(const Args& args, std::int64_t height, std::int64_t width, std::int64_t step);

/// Per-pixel cross entropy summed over pixels times 0.1, as the exascale runs of 2018 had it. With three classes they
/// are background, cyclone and river, weighted by 1/0.991, 1/0.0266 and 1/0.13 (inverse roots of their frequencies)
/// over the sum of those.
Spec exascale_loss(std::int64_t classes);

}  // namespace isobar::zoo
