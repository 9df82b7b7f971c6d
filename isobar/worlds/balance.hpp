// Winds derive from a streamfunction, u = -d(psi)/dy and v = d(psi)/dx, and so does pressure, p' = rho f psi. This
// geostrophic balance stays finite at the equator, where winds keep blowing but hardly affect pressure.
#pragma once

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {

/// In metres per second.
struct Wind {
  double east, north;
};

/// The wind of a streamfunction in m^2/s, by central differences; at a pole, that of the neighbouring row.
Wind wind_of(const Plane& psi, const SphereGrid& grid, int row, int column);

/// The deviation of sea-level pressure from its mean, in Pa, that balances this wind.
inline double balanced_pressure(double psi, double latitude) { return 1.2 * coriolis(latitude) * psi; }

}  // namespace isobar::worlds
