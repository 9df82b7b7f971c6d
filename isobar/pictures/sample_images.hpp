// What a network makes of one sample, for TensorBoard: input, target and prediction as pictures where they have two or
// three spatial axes, and as a table where target and prediction are a few numbers or a class.
#pragma once

#include <string>
#include <vector>

#include "isobar/files/image.hpp"
#include "isobar/train/viewer.hpp"

namespace isobar::pictures {

struct NamedImage {
  std::string name;  ///< input, target or prediction
  files::Image image;
};

/// `channels` names the channels of the input. Classes on the grid of the input are tints over it; numeric fields are
/// shown side by side, at most four, in the colour range of the target. Empty for a sample that is not a picture.
std::vector<NamedImage> sample_images(const train::View& view, const std::vector<std::string>& channels);

/// Target and prediction as a Markdown table; empty when there are more than 16 numbers to show.
std::string sample_table(const train::View& view, const std::vector<std::string>& classes);

}  // namespace isobar::pictures
