#include "isobar/pictures/grid_boxes.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"

namespace isobar::pictures {
namespace {

constexpr std::size_t object = 4, no_class = 5, first_class = 6;
constexpr double same_box = 0.4;  // overlap above which two boxes mark the same object

double confidence_of(std::span<const float> cell, CellNumbers numbers) {
  if (numbers == CellNumbers::truth) return cell[object] > 0 ? 1 : 0;
  if (numbers == CellNumbers::probabilities) return cell[object];
  return 1 / (1 + std::exp(static_cast<double>(cell[no_class]) - cell[object]));
}

}  // namespace

double overlap(const GridBox& a, const GridBox& b) {
  const double wide = std::min(a.left + a.width, b.left + b.width) - std::max(a.left, b.left);
  const double high = std::min(a.top + a.height, b.top + b.height) - std::max(a.top, b.top);
  if (wide <= 0 || high <= 0) return 0;
  return wide * high / (a.width * a.height + b.width * b.height - wide * high);
}

std::vector<GridBox> boxes_of(std::span<const float> cells, const Shape& shape, std::int64_t height, std::int64_t width,
                              CellNumbers numbers, double least) {
  expects(shape.rank() == 3 && shape[2] > static_cast<std::int64_t>(first_class) && std::ssize(cells) == shape.count(),
          "cells with a box, object, none and classes");
  const double step_y = static_cast<double>(height) / shape[0];
  const double step_x = static_cast<double>(width) / shape[1];
  std::vector<GridBox> found;
  const std::size_t depth = shape[2];
  for (std::int64_t at = 0; at < shape[0] * shape[1]; ++at) {
    const std::span<const float> cell = cells.subspan(at * depth, depth);
    GridBox box;
    box.confidence = confidence_of(cell, numbers);
    if (!(box.confidence >= (numbers == CellNumbers::truth ? 1 : least))) continue;
    // A barely trained network predicts anything: limit boxes to twice the size of the input.
    const auto size = [](float exponent) { return std::exp2(std::clamp(static_cast<double>(exponent), -8.0, 8.0)); };
    box.width = std::min(step_x * size(cell[2]), 2.0 * width);
    box.height = std::min(step_y * size(cell[3]), 2.0 * height);
    box.left = (static_cast<double>(at % shape[1]) + cell[0]) * step_x - box.width / 2;
    box.top = (static_cast<double>(at / shape[1]) + cell[1]) * step_y - box.height / 2;
    if (!std::isfinite(box.left) || !std::isfinite(box.top)) continue;
    box.kind = std::ranges::max_element(cell.subspan(first_class)) - cell.subspan(first_class).begin();
    found.push_back(box);
  }
  std::ranges::stable_sort(found, std::greater(), &GridBox::confidence);
  if (numbers == CellNumbers::truth) return found;
  std::vector<GridBox> kept;
  for (const GridBox& box : found)
    if (std::ranges::none_of(kept, [&](const GridBox& k) { return k.kind == box.kind && overlap(k, box) > same_box; }))
      kept.push_back(box);
  return kept;
}

}  // namespace isobar::pictures
