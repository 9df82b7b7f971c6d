// The air over one point at one moment, composed of mean climate, eddies, the origin of the air and the storms around
// it. The sum was tuned until states agreed with the CAM5 states in ClimateNet.
#pragma once

#include <vector>

#include "isobar/worlds/climate.hpp"
#include "isobar/worlds/column.hpp"
#include "isobar/worlds/stirring.hpp"
#include "isobar/worlds/vortex.hpp"

namespace isobar::worlds {

/// Everything known about a moment before its points are computed.
struct WeatherMoment {
  SphereGrid grid;
  double hour_of_day;  ///< UTC
  Climate climate;
  const Land& land;
  const Plane& sea_anomaly;              ///< K
  Plane psi, upper, clouds, convection;  ///< on the grid: streamfunction in m^2/s and three eddy fields
  Past past;                             ///< winds of the last days, on a coarse grid
  Plane usual_moisture, coarse_land;     ///< on the same coarse grid
  std::vector<Vortex> vortices;
};

/// Computes the points of one row; each thread needs its own object.
class WeatherRow {
 public:
  WeatherRow(const WeatherMoment& moment, int row);

  /// The air over a column of the grid.
  AirColumn at(int column) const;

 private:
  // Averages along the path of the air; recent places count less.
  struct Origin {
    double moisture, temperature_500;
    Waypoint day_ago;
  };
  Origin origin(double longitude) const;
  VortexEffect storms(double longitude) const;

  const WeatherMoment& moment_;
  int row_;
  double latitude_, cosine_, tropics_, land_warmth_;
  ZonalMean mean_;
};

}  // namespace isobar::worlds
