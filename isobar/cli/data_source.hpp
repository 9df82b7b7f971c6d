// Data as a user names them: a file or folder, or a Spec.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "isobar/datasets/dataset.hpp"
#include "isobar/datasets/format.hpp"

namespace isobar::cli {

/// A file or folder with its contents, or a Spec.
struct DataSource {
  std::optional<datasets::Contents> contents;  ///< of a file or folder
  std::optional<Spec> spec;                    ///< the data set that reads it best, if any
  std::string obstacle;                        ///< otherwise, why it cannot be read
};

/// A name that exists on disk is a path, anything else a Spec.
DataSource find_source(const std::string& text);

/// A data set with transforms, if any; one without samples is an Error.
std::shared_ptr<const datasets::Dataset> open_data(const Spec& spec, const std::vector<std::string>& transforms);
/// The data set that a user named; throws Error if it cannot be read.
std::shared_ptr<const datasets::Dataset> open_source(const std::string& text,
                                                     const std::vector<std::string>& transforms);

}  // namespace isobar::cli
