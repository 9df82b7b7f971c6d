// Winds derive from a streamfunction, u = -d(psi)/dy and v = d(psi)/dx, and pressure from the same by p' = rho f psi:
// geostrophic balance that stays finite at the equator, where winds keep blowing and pressure hardly feels them.
#pragma once

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

/// Metres a second.
struct Wind {
  double east, north;
};

/// The wind of a streamfunction in m^2/s, by central differences; at a pole as in the row beside it.
Wind wind_of(const Plane& psi, const SphereGrid& grid, int row, int column);

/// The sea-level pressure, in Pa about its mean, that balances that wind.
inline double balanced_pressure(double psi, double latitude) { return 1.2 * coriolis(latitude) * psi; }

}  // namespace isobar::worlds
