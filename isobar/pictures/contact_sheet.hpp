// ContactSheet: the first samples of a data set in one picture. Pictures are shown as they are, other planes by a
// colour map, volumes by their middle layer, and maps of classes as tints over the first channel.
#pragma once

#include <string>

#include "isobar/datasets/dataset.hpp"
#include "isobar/files/image.hpp"

namespace isobar::pictures {

struct ContactSheet {
  files::Image picture;
  std::string legend;  ///< what is where, in one line
};

/// Reads the first `samples` of a data set, at most 16, and draws them; the first channels of those that have many.
ContactSheet contact_sheet(const datasets::Dataset& dataset, std::int64_t samples);

}  // namespace isobar::pictures
