// A data set of which only a region of every sample is seen, as by the ranks that share a sample: an ordinary data set
// whose fields are the boxes. Loaders, evaluation and predictions need to know nothing of it.
#pragma once

#include <memory>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// The region of every sample of `whole`, at the same index; `whole` itself if the region is all of it. A box that is
/// empty or not inside its field is an Error.
std::shared_ptr<const Dataset> region_of(std::shared_ptr<const Dataset> whole, Region region);

}  // namespace isobar::datasets
