// Some samples of a data set as a data set, and the choice of a share of them: what is kept apart from training.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// The samples of `whole` with these numbers, which ascend and lie in the set, counted from 0 anew.
std::shared_ptr<const Dataset> sample_subset(std::shared_ptr<const Dataset> whole, std::vector<std::int64_t> samples);

/// The numbers of samples that were chosen, and all others; both ascend.
struct ChosenSamples {
  std::vector<std::int64_t> chosen, others;
};

/// Chooses round(share * count) of the samples 0 to count - 1, at least one and never all: those whose hashes, a
/// function of seed and number alone, are the smallest. A share outside (0, 1), or fewer than two samples, is a
/// UsageError.
ChosenSamples choose_samples(std::int64_t count, double share, std::uint64_t seed);

}  // namespace isobar::datasets
