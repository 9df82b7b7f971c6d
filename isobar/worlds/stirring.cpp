#include "isobar/worlds/stirring.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"

namespace isobar::worlds {
namespace {

Waypoint placed(const SphereGrid& grid, float row, float column) {
  const auto width = static_cast<float>(grid.width);
  column -= width * std::floor(column / width);
  if (column >= width) column = 0;  // possible by rounding
  return {std::clamp(row, 0.0f, static_cast<float>(grid.height - 1)), column};
}

}  // namespace

Waypoint half_way(const SphereGrid& grid, Waypoint a, Waypoint b) {
  const auto width = static_cast<float>(grid.width);
  // Across the seam, take the shorter way.
  const float step = b.column - a.column, around = step > width / 2 ? width : step < -width / 2 ? -width : 0;
  return placed(grid, (a.row + b.row) / 2, a.column + (step - around) / 2);
}

void trace_back(const Past& past, Waypoint point, std::span<Waypoint> way) {
  expects(!way.empty() && way.size() <= past.flows.size(), "a wind for every moment of the way");
  const SphereGrid& grid = past.grid;
  const auto hours = static_cast<float>(past.hours);
  way[0] = point;
  for (std::size_t i = 1; i < way.size(); ++i) {
    const Flow &later = past.flows[i - 1], &earlier = past.flows[i];
    const Waypoint p = way[i - 1];
    const float rows = between(later.rows.data(), grid, p.row, p.column);
    const float columns = between(later.columns.data(), grid, p.row, p.column);
    const Waypoint guess = placed(grid, p.row - hours * rows, p.column - hours * columns);
    // Heun's rule: the mean of the winds at both ends.
    const float rows_then = between(earlier.rows.data(), grid, guess.row, guess.column);
    const float columns_then = between(earlier.columns.data(), grid, guess.row, guess.column);
    way[i] = placed(grid, p.row - hours / 2 * (rows + rows_then), p.column - hours / 2 * (columns + columns_then));
  }
}

}  // namespace isobar::worlds
