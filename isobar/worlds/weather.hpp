// The air over one point of a moment: mean climate, eddies, where the air came from and the storms around it are put
// together here. What they add up to was tuned until states agree with CAM5's where ClimateNet shows them.
#pragma once

#include <vector>

#include "isobar/worlds/climate.hpp"
#include "isobar/worlds/column.hpp"
#include "isobar/worlds/stirring.hpp"
#include "isobar/worlds/vortex.hpp"

namespace isobar::worlds {

/// Everything that is known of a moment before its points are made.
struct WeatherMoment {
  SphereGrid grid;
  double hour_of_day;  ///< UTC
  Climate climate;
  const Land& land;
  const Plane& sea_anomaly;              ///< K
  Plane psi, upper, clouds, convection;  ///< on the grid: streamfunction in m^2/s and three eddy fields
  Past past;                             ///< winds of the last days, on a coarse grid
  Plane usual_moisture, coarse_land;     ///< on that coarse grid
  std::vector<Vortex> vortices;
};

/// Makes the points of one row; one object for each thread.
class WeatherRow {
 public:
  WeatherRow(const WeatherMoment& moment, int row);

  /// The air over a column of the grid.
  AirColumn at(int column) const;

 private:
  // Averages along the way of the air, later parts counting less.
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
