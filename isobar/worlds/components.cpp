#include "isobar/worlds/components.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

std::uint32_t farthest(const SphereGrid& grid, const Component& component, std::uint32_t from, double& distance) {
  const std::uint32_t width = grid.width;
  const auto latitude = [&](std::uint32_t cell) { return grid.latitude(cell / width); };
  const auto longitude = [&](std::uint32_t cell) { return grid.longitude(cell % width); };
  std::uint32_t best = from;
  distance = 0;
  for (const std::uint32_t cell : component.cells) {
    const double d = great_circle(latitude(from), longitude(from), latitude(cell), longitude(cell));
    if (d > distance) {
      distance = d;
      best = cell;
    }
  }
  return best;
}

}  // namespace

std::vector<Component> components(const SphereGrid& grid, std::span<const std::uint8_t> mask) {
  expects(mask.size() == grid.cells(), "a mask of the grid's size");
  std::vector<Component> found;
  Mask seen(mask.size());
  for (std::size_t start = 0; start < mask.size(); ++start) {
    if (mask[start] == 0 || seen[start] != 0) continue;
    Component component;
    component.cells.push_back(start);
    seen[start] = 1;
    // The list is its own queue: the neighbours of a cell are examined later.
    for (std::size_t next = 0; next < component.cells.size(); ++next) {
      const int row = static_cast<int>(component.cells[next]) / grid.width;
      const int column = static_cast<int>(component.cells[next]) % grid.width;
      for (int r = std::max(row - 1, 0); r <= std::min(row + 1, grid.height - 1); ++r)
        for (int step = -1; step <= 1; ++step) {
          const int c = (column + step + grid.width) % grid.width;
          const std::size_t cell = grid.cell(r, c);
          if (mask[cell] == 0 || seen[cell] != 0) continue;
          seen[cell] = 1;
          component.cells.push_back(cell);
        }
    }
    found.push_back(std::move(component));
  }
  return found;
}

ComponentExtent extent(const SphereGrid& grid, const Component& component) {
  expects(!component.cells.empty(), "a piece of at least one cell");
  ComponentExtent result;
  for (const std::uint32_t cell : component.cells) result.area += grid.cell_area(static_cast<int>(cell) / grid.width);
  // From any cell to the farthest, and from there to the farthest again: takes linear time and is exact except for odd
  // shapes.
  double distance = 0;
  const std::uint32_t end = farthest(grid, component, component.cells[0], distance);
  farthest(grid, component, end, result.length);
  // Adds the size of a cell.
  result.length += grid.row_step() * degree * earth_radius;
  return result;
}

}  // namespace isobar::worlds
