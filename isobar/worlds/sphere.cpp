#include "isobar/worlds/sphere.hpp"

#include <algorithm>

namespace isobar::worlds {

double SphereGrid::column_of(double longitude) const {
  const double turned = longitude - 360.0 * std::floor(longitude / 360.0);
  const double column = turned / column_step();
  return column < width ? column : 0.0;
}

double SphereGrid::cell_area(int row) const {
  const double south = std::max(-90.0, latitude(row) - row_step() / 2),
               north = std::min(90.0, latitude(row) + row_step() / 2);
  return earth_radius * earth_radius * column_step() * degree * (std::sin(north * degree) - std::sin(south * degree));
}

double great_circle(double latitude_a, double longitude_a, double latitude_b, double longitude_b) {
  // The haversine is accurate for nearby points, where the arc cosine of a scalar product is not.
  const double y = std::sin((latitude_b - latitude_a) * degree / 2),
               x = std::sin((longitude_b - longitude_a) * degree / 2);
  const double h = y * y + std::cos(latitude_a * degree) * std::cos(latitude_b * degree) * x * x;
  return 2 * earth_radius * std::asin(std::sqrt(std::min(1.0, h)));
}

Wind wind_of(const Plane& psi, const SphereGrid& grid, int row, int column) {
  const int inside = std::clamp(row, 1, grid.height - 2);
  const int west = column == 0 ? grid.width - 1 : column - 1, east = column + 1 == grid.width ? 0 : column + 1;
  const float* line = psi.data() + static_cast<std::ptrdiff_t>(inside) * grid.width;
  const double y = 2 * grid.row_step() * degree * earth_radius;
  const double x = 2 * grid.column_step() * degree * earth_radius * std::cos(grid.latitude(inside) * degree);
  return {-(line[column + grid.width] - line[column - grid.width]) / y, (line[east] - line[west]) / x};
}

}  // namespace isobar::worlds
