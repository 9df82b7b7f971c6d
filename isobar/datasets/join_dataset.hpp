// Samples whose parts come from two data sets: x of one, y of the other.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// Sample i has the x of sample i of `x`, and as y the y of sample i of `y`, or its x if it has no other field.
/// Different sizes are an Error.
std::unique_ptr<Dataset> join_datasets(std::unique_ptr<Dataset> x, std::unique_ptr<Dataset> y);

/// Sample i is files[i], and its y is the number of the folder that contains that file, with folders sorted by name.
std::unique_ptr<Dataset> label_by_folder(std::unique_ptr<Dataset> x, const std::vector<std::filesystem::path>& files);

}  // namespace isobar::datasets
