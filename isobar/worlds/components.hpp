// Connected pieces of a mask on the sphere's grid: cells that share a side or a corner are connected, columns are
// periodic. Pieces are measured on the sphere, in metres, so that a shape measures the same on every grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

/// A mask: 0 or 1 for every point of a grid.
using Mask = std::vector<std::uint8_t>;

/// One connected piece.
struct Component {
  std::vector<std::uint32_t> cells;  ///< row * width + column, in order of discovery
};

/// All pieces, ordered by their first cell.
std::vector<Component> components(const SphereGrid& grid, std::span<const std::uint8_t> mask);

/// Size and shape of a piece.
struct ComponentExtent {
  double area = 0;    ///< square metres
  double length = 0;  ///< metres between its farthest cells, along the great circle
  /// Mean width, metres: the area over the length.
  double width() const { return length > 0 ? area / length : 0; }
};

/// Measures a piece.
ComponentExtent extent(const SphereGrid& grid, const Component& component);

}  // namespace isobar::worlds
