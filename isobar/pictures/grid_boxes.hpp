// GridBoxes: the boxes encoded in a map of cells, in the format of detection_loss: for each cell x, y, w, h, object,
// none, and a number for each class. The centre of the box lies in the cell, at (x, y), each from 0 to 1; the box is
// 2^w cells wide and 2^h cells high.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/tensor/shape.hpp"

namespace isobar::pictures {

/// A box in pixels of the input, counted from its first row and column.
struct GridBox {
  double left = 0, top = 0, width = 0, height = 0;
  std::int64_t kind = 0;  ///< its class
  double confidence = 1;  ///< that there is an object
};

/// Intersection over union of two boxes.
double overlap(const GridBox& a, const GridBox& b);

/// How to interpret the numbers of a map.
enum class CellNumbers { truth, probabilities, logits };

/// The boxes of a map [rows, columns, 6 + classes] over an input of `height` x `width` places, the most confident
/// first: of a truth those with an object, of predictions those with a confidence of at least `least`. A prediction
/// that overlaps a more confident one of its class is left out.
std::vector<GridBox> boxes_of(std::span<const float> cells, const Shape& shape, std::int64_t height, std::int64_t width,
                              CellNumbers numbers, double least = 0.5);

}  // namespace isobar::pictures
