// Labels a state as the climate data sets were labelled: by rules that see only its sixteen channels. 0 is background,
// 1 a tropical cyclone, 2 an atmospheric river. The two label sets of the original files differ in their thresholds:
// labels_0 uses the usual ones, labels_1 relaxed ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isobar/worlds/components.hpp"

namespace isobar::worlds {

enum class WeatherClass : std::uint8_t { background = 0, cyclone = 1, river = 2 };

/// What counts as a cyclone and as a river.
struct LabelRules {
  double least_wind = 14;         ///< m/s at 850 hPa, within 2.5 degrees of a cyclone's centre
  double least_deficit = 350;     ///< Pa by which the centre lies below the mean 4 to 7 degrees away
  double least_warmth = 0.6;      ///< K by which the centre is warmer than that ring, mean of 200 and 500 hPa
  double farthest_latitude = 36;  ///< degrees; storms beyond it belong to fronts
  double mask_radius = 6.6;       ///< degrees around a centre within which cells can belong to a cyclone
  double wind_percentile = 93;    ///< cells of that disc with more wind than this percentile belong to it
  double least_moisture = 24;     ///< kg/m^2 in a river
  double least_contrast = 3.0;    ///< kg/m^2 above the mean of the surrounding 3,000 km
  double least_transport = 150;   ///< kg/(m s): moisture times wind at 850 hPa
  double nearest_latitude = 22;   ///< degrees; closer to the equator, moist air is everywhere
  double least_reach = 30;        ///< degrees: the latitude that a river must reach
  double least_length = 1.5e6;    ///< metres
  double most_width = 1.0e6;      ///< metres, averaged over the length

  /// The rules of labels_0 and of labels_1.
  static LabelRules usual() { return {}; }
  static LabelRules relaxed();
};

/// A detected cyclone.
struct FoundCyclone {
  double latitude, longitude;  ///< of the pressure minimum
  double pressure;             ///< Pa
  double wind;                 ///< the strongest near it, m/s
};

/// Pressure minima with wind and a warm core, in a state of height x width x 16 numbers.
std::vector<FoundCyclone> find_cyclones(const SphereGrid& grid, std::span<const float> state, const LabelRules& rules);

/// Cells connected to a detected centre whose wind is in the upper percentiles of the disc around it.
Mask cyclone_mask(const SphereGrid& grid, std::span<const float> state, std::span<const FoundCyclone> cyclones,
                  const LabelRules& rules);

/// Long and narrow filaments of moist air moving poleward, outside `taken`.
Mask river_mask(const SphereGrid& grid, std::span<const float> state, std::span<const std::uint8_t> taken,
                const LabelRules& rules);

/// The class of every point.
std::vector<WeatherClass> label_weather(const SphereGrid& grid, std::span<const float> state, const LabelRules& rules);

}  // namespace isobar::worlds
