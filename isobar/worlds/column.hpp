// Computes the sixteen channels of a point consistently from a few numbers that describe the air above it: heights
// follow hydrostatically from pressure and temperatures, surface pressure follows from sea-level pressure and the
// height of the ground, humidity stays below saturation, and heights below the ground are what CAM reports there.
#pragma once

#include <span>

namespace isobar::worlds {

/// The air over one point.
struct AirColumn {
  double sea_pressure;                      ///< Pa, without the storms
  double storm_pressure = 0;                ///< Pa, added by storms; their warm core cancels it aloft
  double east_850, north_850;               ///< m/s
  double east_bottom, north_bottom;         ///< m/s
  double surface, air;                      ///< temperatures of the surface and 2 m above it, K
  double temperature_500, temperature_200;  ///< K
  double lower;           ///< 2 m temperature as the lower troposphere feels it, K: no inversions, no nights
  double moisture;        ///< kg/m^2
  double rain;            ///< m/s
  double height;          ///< of the ground, m
  double land;            ///< 0 to 1
  double usual_moisture;  ///< climatological mean at this place, kg/m^2
};

/// Fills the sixteen channels.
void fill_channels(const AirColumn& column, std::span<float, 16> state);

}  // namespace isobar::worlds
