#include "isobar/worlds/column.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/worlds/channels.hpp"
#include "isobar/worlds/climate.hpp"

namespace isobar::worlds {
namespace {

constexpr double gas = 287.04, lapse = 0.0065;
constexpr double scale = gas / gravity;
// The pressure of CAM's lowest level as a fraction of surface pressure, as a logarithm.
constexpr double lowest = 0.007458;
constexpr double log_500_200 = 0.9162907318741551;

}  // namespace

void fill_channels(const AirColumn& column, std::span<float, 16> state) {
  const double pressure = column.sea_pressure + column.storm_pressure;
  // Temperature reduced to sea level under a mountain, by the standard lapse rate.
  const double sea_air = column.air + lapse * column.height;
  const double ground = pressure * std::pow(1 - lapse * column.height / sea_air, gravity / (gas * lapse));

  const double relative = std::clamp(0.775 + 0.16 * (column.moisture / column.usual_moisture - 1) -
                                         0.22 * column.land * std::clamp(1 - column.moisture / 45, 0.0, 1.0),
                                     0.15, 0.97);
  const double humidity = relative * saturation(column.air, ground);
  const double virtual_air = column.air * (1 + 0.608 * humidity);
  const double bottom = scale * virtual_air * lowest;

  // CAM cannot interpolate below its lowest level and reports that level instead.
  const double at_1000 = scale * (sea_air * (1 + 0.608 * humidity)) * std::log(pressure / 1e5);
  const double below_500 = (column.lower * (1 + 0.5 * humidity) + column.temperature_500) / 2;
  const double above_500 = (column.temperature_500 + column.temperature_200) / 2;
  const double at_200 = scale * (below_500 * std::log(column.sea_pressure / 5e4) + above_500 * log_500_200);
  // A storm's core is warmest near 300 hPa, between our two levels; a sixth of the deficit remains at 200 hPa.
  const double storm_200 = scale * below_500 * column.storm_pressure / column.sea_pressure / 6;

  const auto put = [&](Channel channel, double value) { state[channel] = static_cast<float>(value); };
  put(TMQ, column.moisture);
  put(U850, column.east_850);
  put(V850, column.north_850);
  put(UBOT, column.east_bottom);
  put(VBOT, column.north_bottom);
  put(QREFHT, humidity);
  put(PS, ground);
  put(PSL, pressure);
  put(T200, column.temperature_200);
  put(T500, column.temperature_500);
  put(PRECT, column.rain);
  put(TS, column.surface);
  put(TREFHT, column.air);
  put(Z1000, std::max(at_1000, column.height + bottom));
  put(Z200, at_200 + storm_200);
  put(ZBOT, bottom);
}

}  // namespace isobar::worlds
