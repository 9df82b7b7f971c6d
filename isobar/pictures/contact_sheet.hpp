// ContactSheet: the first samples of a data set in one picture. Pictures are shown unchanged, other planes with a
// colour map, volumes by their middle layer, and maps of classes as tints over the first channel.
#pragma once

#include <string>

#include "isobar/datasets/dataset.hpp"
#include "isobar/files/image.hpp"

namespace isobar::pictures {

struct ContactSheet {
  files::Image picture;
  std::string legend;  ///< one line that explains the picture
};

/// Reads the first `samples` of a data set, at most 16, and draws them; of many channels only the first are drawn.
ContactSheet contact_sheet(const datasets::Dataset& dataset, std::int64_t samples);

}  // namespace isobar::pictures
