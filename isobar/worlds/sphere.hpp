// The grid of climate models: rows from the south pole to the north pole, both included, columns eastward from 0.
// Angles are in degrees, lengths in metres; a plane of numbers is stored row by row.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace isobar::worlds {

inline constexpr double earth_radius = 6.371e6;           ///< metres
inline constexpr double earth_rotation = 7.292e-5;        ///< radians per second
inline constexpr double gravity = 9.80616;                ///< metres per second squared
inline constexpr double degree = std::numbers::pi / 180;  ///< in radians

/// One number for every point of a grid.
using Plane = std::vector<float>;

/// A latitude-longitude grid of any size, at least 8 x 16.
struct SphereGrid {
  int height, width;

  std::size_t cells() const { return cell(height, 0); }
  /// The index of a cell in a Plane.
  std::size_t cell(int row, int column) const { return static_cast<std::size_t>(row) * width + column; }
  double latitude(int row) const { return -90.0 + 180.0 * row / (height - 1); }
  double longitude(int column) const { return 360.0 * column / width; }
  /// Degrees from one row, or column, to the next.
  double row_step() const { return 180.0 / (height - 1); }
  double column_step() const { return 360.0 / width; }
  /// The fractional row of a latitude, and the fractional column, in [0, width), of a longitude of either sign.
  double row_of(double latitude) const { return (latitude + 90.0) / row_step(); }
  double column_of(double longitude) const;
  /// The area of a cell in this row, in square metres; the cells of a grid cover the sphere exactly.
  double cell_area(int row) const;
  bool operator==(const SphereGrid&) const = default;
};

/// The great-circle distance between two points, in metres.
double great_circle(double latitude_a, double longitude_a, double latitude_b, double longitude_b);

/// The Coriolis parameter 2 Omega sin(latitude).
inline double coriolis(double latitude) { return 2 * earth_rotation * std::sin(latitude * degree); }

/// Bilinear interpolation in a plane, periodic in longitude; row in [0, height - 1], column in [0, width).
inline float between(const float* plane, const SphereGrid& grid, float row, float column) {
  int r = static_cast<int>(row), c = static_cast<int>(column);
  r = r > grid.height - 2 ? grid.height - 2 : r;
  c = c >= grid.width ? grid.width - 1 : c;
  const float y = row - static_cast<float>(r), x = column - static_cast<float>(c);
  const int e = c + 1 == grid.width ? 0 : c + 1;
  const float* south = plane + static_cast<std::ptrdiff_t>(r) * grid.width;
  const float* north = south + grid.width;
  const float low = south[c] + x * (south[e] - south[c]), high = north[c] + x * (north[e] - north[c]);
  return low + y * (high - low);
}

// Winds derive from a streamfunction, u = -d(psi)/dy and v = d(psi)/dx, and so does pressure, p' = rho f psi. This
// geostrophic balance stays finite at the equator, where winds keep blowing but hardly affect pressure.

/// In metres per second.
struct Wind {
  double east, north;
};

/// The wind of a streamfunction in m^2/s, by central differences; at a pole, that of the neighbouring row.
Wind wind_of(const Plane& psi, const SphereGrid& grid, int row, int column);

/// The deviation of sea-level pressure from its mean, in Pa, that balances this wind.
inline double balanced_pressure(double psi, double latitude) { return 1.2 * coriolis(latitude) * psi; }

}  // namespace isobar::worlds
