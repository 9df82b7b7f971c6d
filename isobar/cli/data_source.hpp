// What a user names as data: a file or folder, or a Spec.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/format.hpp"

namespace isobar::cli {

/// A file or folder with what it holds, or a Spec.
struct DataSource {
  std::optional<datasets::Contents> contents;  ///< of a file or folder
  std::optional<Spec> spec;                    ///< the data set that reads it best; none when nothing does
  std::string obstacle;                        ///< then why not
};

/// What exists on disk is a path, all else a Spec.
DataSource find_source(const std::string& text);

/// A data set seen through transforms, where there are some; one without samples is an Error.
std::shared_ptr<const datasets::Dataset> open_data(const Spec& spec, const std::vector<std::string>& transforms);
/// The data set of what a user named; what cannot be read is an Error.
std::shared_ptr<const datasets::Dataset> open_source(const std::string& text,
                                                     const std::vector<std::string>& transforms);

}  // namespace isobar::cli
