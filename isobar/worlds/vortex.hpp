// A tropical cyclone's pressure and wind around its centre (Holland 1980): p(r) = pc + dp exp(-(R/r)^B), and the wind
// that balances it, V^2 / r + f V = p'(r) / rho. A grid sees a storm averaged over its cells: a vortex narrower than a
// cell is widened to the cell and weakened. There is no effect beyond 1,300 km.
#pragma once

#include <span>

#include "isobar/worlds/cyclones.hpp"

namespace isobar::worlds {

/// What a storm adds at one point.
struct VortexEffect {
  double pressure = 0;                       ///< Pa, negative
  double east = 0, north = 0;                ///< wind at 850 hPa, m/s
  double inflow_east = 0, inflow_north = 0;  ///< wind near the surface, turned inward and slowed by friction
  double warm_500 = 0, warm_200 = 0;         ///< K
  double moisture = 0;                       ///< kg/m^2 of the column; dry air between bands is negative
  double rain = 0;                           ///< metres per second

  VortexEffect& operator+=(const VortexEffect& other);
};

/// A point on the sphere, in degrees.
struct SpherePlace {
  double latitude, longitude;
};

/// A storm as one grid sees it.
class Vortex {
 public:
  /// `cell` is the distance between grid points at the storm, in metres.
  Vortex(const Storm& storm, double cell);

  static constexpr double reach = 1.3e6;  ///< metres

  /// How far the pressure at a distance in metres is below that of the surroundings, Pa.
  double deficit(double distance) const;
  /// The wind that balances it, m/s.
  double wind(double distance) const;
  /// All effects at a point; zero beyond `reach`.
  VortexEffect at(double latitude, double longitude) const;

  /// The angle in radians by which the storm has turned the air at a distance; it draws moisture in along spirals.
  double swirl(double distance) const;

  /// False if the storm affects no point of this latitude.
  bool reaches(double latitude) const;

  const Storm& storm() const { return storm_; }

 private:
  Storm storm_;
  double coriolis_;
};

/// Where the air at this place would be if no storm had turned it.
SpherePlace before_turning(std::span<const Vortex> vortices, SpherePlace place);

}  // namespace isobar::worlds
