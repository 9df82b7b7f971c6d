// Labels as the climate data sets were labelled: by rules that see nothing but the sixteen channels of a state. 0 is
// background, 1 a tropical cyclone, 2 an atmospheric river. Where a rule needs a number, the two sets of the original
// files have their own: labels_0 by the usual thresholds, labels_1 by relaxed ones.
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
  double least_deficit = 350;     ///< Pa the centre lies below the mean 4 to 7 degrees away
  double least_warmth = 0.6;      ///< K the centre is warmer than that surrounding, mean of 200 and 500 hPa
  double farthest_latitude = 36;  ///< degrees; beyond are the storms of the fronts
  double mask_radius = 6.6;       ///< degrees around a centre that can belong to a cyclone
  double wind_percentile = 93;    ///< cells of that disc with more wind than this belong to it
  double least_moisture = 24;     ///< kg/m^2 in a river
  double least_contrast = 3.0;    ///< kg/m^2 above the mean of the surrounding 3,000 km
  double least_transport = 150;   ///< kg/(m s): moisture times wind at 850 hPa
  double nearest_latitude = 22;   ///< degrees; nearer to the equator moist air is everywhere
  double least_reach = 30;        ///< degrees: the latitude a river gets to
  double least_length = 1.5e6;    ///< metres
  double most_width = 1.0e6;      ///< metres, mean over the length

  /// The rules of labels_0 and of labels_1.
  static LabelRules usual() { return {}; }
  static LabelRules relaxed();
};

/// A cyclone that was found.
struct FoundCyclone {
  double latitude, longitude;  ///< of the pressure minimum
  double pressure;             ///< Pa
  double wind;                 ///< the strongest near it, m/s
};

/// Pressure minima with wind and a warm core, in a state of height x width x 16 numbers.
std::vector<FoundCyclone> find_cyclones(const SphereGrid& grid, std::span<const float> state, const LabelRules& rules);

/// Cells around the found centres whose wind is in the upper percentiles of the disc, joined to the centre.
Mask cyclone_mask(const SphereGrid& grid, std::span<const float> state, std::span<const FoundCyclone> cyclones,
                  const LabelRules& rules);

/// Long and narrow filaments of moist air that moves poleward, outside `taken`.
Mask river_mask(const SphereGrid& grid, std::span<const float> state, std::span<const std::uint8_t> taken,
                const LabelRules& rules);

/// The class of every point.
std::vector<WeatherClass> label_weather(const SphereGrid& grid, std::span<const float> state, const LabelRules& rules);

}  // namespace isobar::worlds
