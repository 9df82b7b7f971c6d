// Samples whose parts come from two data sets: x of one, y of the other.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// Sample i has the x of sample i of `x`, and as y the y of sample i of `y`, or its x when it has no other field. Sizes
/// that differ are an Error.
std::unique_ptr<Dataset> join_datasets(std::unique_ptr<Dataset> x, std::unique_ptr<Dataset> y);

/// Sample i lies in files[i], and its y is the number of the folder that file lies in, in the order of their names.
std::unique_ptr<Dataset> label_by_folder(std::unique_ptr<Dataset> x, const std::vector<std::filesystem::path>& files);

}  // namespace isobar::datasets
