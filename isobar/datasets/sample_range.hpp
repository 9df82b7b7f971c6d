// A range of consecutive samples of a data set, as a data set.
#pragma once

#include <memory>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// The samples [first, last) of `whole`; an empty range, or one that reaches beyond its end, is a UsageError.
std::shared_ptr<const Dataset> sample_range(std::shared_ptr<const Dataset> whole, std::int64_t first,
                                            std::int64_t last);

}  // namespace isobar::datasets
