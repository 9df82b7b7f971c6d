// What a network makes of one sample, for TensorBoard: input, target and prediction as pictures where they have two or
// three axes of space, and as a table where target and prediction are a few numbers or a class.
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

/// `channels` are the names of those of the input. Classes are tints over the input, where they lie on its grid; fields
/// of numbers stand side by side, the first four of many, in the colours of the target. A sample that is no picture
/// gives none.
std::vector<NamedImage> sample_images(const train::View& view, const std::vector<std::string>& channels);

/// Target and prediction as a table in Markdown; empty when there are more than 16 numbers to show.
std::string sample_table(const train::View& view, const std::vector<std::string>& classes);

}  // namespace isobar::pictures
