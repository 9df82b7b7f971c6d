// Samples from two idx files, one of images and one of labels: what idx() and mnist() read.
#pragma once

#include <filesystem>
#include <memory>

#include "isobar/datasets/dataset.hpp"

namespace isobar::datasets {

/// x is an entry of `images` ([H, W, 1] for a plain picture), y one of `labels`, or absent if that path is empty;
/// `samples` = 0 means all.
std::unique_ptr<Dataset> open_idx(const std::filesystem::path& images, const std::filesystem::path& labels,
                                  std::int64_t samples, std::int64_t max_bytes);

}  // namespace isobar::datasets
