// The mean climate of a day of the year: smooth functions of latitude, with the most noticeable departures from zonal
// symmetry (warm pool and cold eastern shores, subtropical highs, monsoon lows). Numbers follow ERA-Interim's zonal
// means and the CAM5 states in ClimateNet. Surface pressure balances the zonal wind geostrophically.
#pragma once

#include <array>
#include <cstdint>

#include "isobar/worlds/land.hpp"

namespace isobar::worlds {

/// Zonal means at one latitude.
struct ZonalMean {
  float wind_850 = 0, wind_bottom = 0;             ///< eastward, m/s
  float drift_bottom = 0;                          ///< northward at the surface, m/s: trade winds to the rain belt
  float pressure = 0;                              ///< at sea level, Pa
  float sea_temperature = 0;                       ///< of the sea surface, K
  float temperature_500 = 0, temperature_200 = 0;  ///< K
  float storminess = 0;                            ///< standard deviation of the eddies' wind components, m/s
};

/// The climate at one moment.
class Climate {
 public:
  explicit Climate(std::int64_t hour);

  /// Zonal means at a latitude, interpolated from a table.
  ZonalMean zonal(double latitude) const;

  /// Only the zonal mean of the temperature at 500 hPa, K; needed at every point of an air trajectory.
  float temperature_500(double latitude) const;

  /// How much warmer the sea is here than the mean of its latitude, K.
  static double sea_anomaly(double latitude, double longitude);

  /// Streamfunction of the standing highs and lows, m^2/s; linear in summer().
  static double standing(double latitude, double longitude, double summer);

  /// How much warmer land is than the sea at its latitude, K, without the daily cycle.
  double land_anomaly(double latitude) const;

  /// The latitude of the rain belt at a longitude.
  double rain_belt(double longitude) const;

  /// Relative humidity of the air column, about 0.5 in the dry subtropics and 0.9 in the rain belt.
  double column_humidity(double latitude, double longitude, double land) const;

  /// 1 in the middle of northern summer, -1 half a year later.
  double summer() const { return summer_; }

 private:
  static constexpr int steps = 720;
  double summer_, sea_summer_;  // the sea lags by a month
  std::array<ZonalMean, steps + 1> table_;
};

/// A smooth transition from 0 at `from` and below to 1 at `to` and above.
double smooth_step(double x, double from, double to);

/// Saturation specific humidity, kg/kg, at a temperature in K and a pressure in Pa (Bolton 1980).
double saturation(double temperature, double pressure);

}  // namespace isobar::worlds
