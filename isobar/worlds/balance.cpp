#include "isobar/worlds/balance.hpp"

#include <algorithm>

namespace isobar::worlds {

Wind wind_of(const Plane& psi, const SphereGrid& grid, int row, int column) {
  const int inside = std::clamp(row, 1, grid.height - 2);
  const int west = column == 0 ? grid.width - 1 : column - 1, east = column + 1 == grid.width ? 0 : column + 1;
  const float* line = psi.data() + static_cast<std::ptrdiff_t>(inside) * grid.width;
  const double y = 2 * grid.row_step() * degree * earth_radius;
  const double x = 2 * grid.column_step() * degree * earth_radius * std::cos(grid.latitude(inside) * degree);
  return {-(line[column + grid.width] - line[column - grid.width]) / y, (line[east] - line[west]) / x};
}

}  // namespace isobar::worlds
