// Turbulence on the sphere, available at any moment: a random field whose waves live for a few days (two draws, blended
// at constant variance) and drift as Rossby-Haurwitz waves do, dx/dt = U - 2 Omega a / l(l+1): planetary waves stand
// still or move west, shorter ones move east with the flow.
#pragma once

#include "isobar/base/random.hpp"
#include "isobar/worlds/harmonics.hpp"

namespace isobar::worlds {

/// What kind of field the waves add up to.
struct EddyKind {
  /// wind: a streamfunction; kinetic energy l^-3 on synoptic scales and l^-5/3 below 500 km (Nastrom and Gage 1985),
  /// each wind component with a variance of one. scalar: a variance of one, l^-2.
  enum Spectrum { wind, scalar } spectrum = wind;
  double peak = 7;        ///< the degree with the most energy
  double drift = 20;      ///< metres per second at the equator, eastward
  double lifetime = 110;  ///< hours, of a wave at the peak; shorter waves live shorter, like their turnover time
};

/// Standard deviation of one coefficient of each degree up to 383, independent of the degrees that a grid can resolve.
std::vector<float> eddy_deviations(const EddyKind& kind);

/// A random field that changes in time; a pure function of the generator and the moment.
class Eddies {
 public:
  Eddies(const EddyKind& kind, const Random& random)
      : kind_(kind), random_(random), deviations_(eddy_deviations(kind)) {}

  /// The coefficients at an hour, up to degree `top`, at most 383; the coefficients do not depend on `top`.
  Coefficients at(double hour, int top, int threads = 1) const;

 private:
  EddyKind kind_;
  Random random_;
  std::vector<float> deviations_;
};

}  // namespace isobar::worlds
