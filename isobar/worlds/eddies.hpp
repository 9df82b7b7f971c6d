// Turbulence on the sphere that can be looked at in any moment: a random field whose waves have a life of a few days
// (two keys, blended so that the variance stays) and drift as Rossby-Haurwitz waves do, dx/dt = U - 2 Omega a / l(l+1):
// planetary waves stand or go west, shorter ones go east with the flow.
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
  double drift = 20;      ///< metres a second at the equator, eastward
  double lifetime = 110;  ///< hours a wave at the peak lives; shorter ones less, as their turnover is
};

/// Standard deviation of one coefficient of each degree up to 383, whatever degree a grid can show of them.
std::vector<float> eddy_deviations(const EddyKind& kind);

/// A random field in time; a pure function of the generator and the moment.
class Eddies {
 public:
  Eddies(const EddyKind& kind, const Random& random)
      : kind_(kind), random_(random), deviations_(eddy_deviations(kind)) {}

  /// The coefficients at an hour, up to a degree of at most 383; lower degrees do not depend on it.
  Coefficients at(double hour, int top, int threads = 1) const;

 private:
  EddyKind kind_;
  Random random_;
  std::vector<float> deviations_;
};

}  // namespace isobar::worlds
