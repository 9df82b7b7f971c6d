#include "isobar/worlds/weather.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {
namespace {

constexpr std::size_t most_moments = 32;
constexpr double cooler_air = 1.4;  // K, of the air above the sea

double day_wave(double hour, double longitude, double peak, double period) {
  return std::cos((hour + longitude / 15 - peak) / period * 2 * std::numbers::pi);
}

}  // namespace

WeatherRow::WeatherRow(const WeatherMoment& moment, int row)
    : moment_(moment),
      row_(row),
      latitude_(moment.grid.latitude(row)),
      cosine_(std::cos(latitude_ * degree)),
      tropics_(std::exp(-std::pow(latitude_ / 28, 4))),
      land_warmth_(moment.climate.land_anomaly(latitude_)),
      mean_(moment.climate.zonal(latitude_)) {}

WeatherRow::Origin WeatherRow::origin(double longitude) const {
  const SphereGrid& coarse = moment_.past.grid;
  const std::size_t moments = std::min(moment_.past.flows.size(), most_moments);
  std::array<Waypoint, most_moments> way;
  const SpherePlace from = before_turning(moment_.vortices, {latitude_, longitude});
  trace_back(moment_.past,
             {static_cast<float>(coarse.row_of(from.latitude)), static_cast<float>(coarse.column_of(from.longitude))},
             std::span(way).first(moments));
  Origin result{0, 0, way[3]};
  double weights = 0;
  for (std::size_t i = 1; i < moments; ++i) {
    // The oldest places count most: recent ones would blur the fronts.
    const auto weight = static_cast<double>(i * i);
    // Midpoints too: with too few places, a front would appear as several faint ones.
    const Waypoint half = half_way(coarse, way[i - 1], way[i]);
    result.moisture += weight / 2 *
                       (between(moment_.usual_moisture.data(), coarse, way[i].row, way[i].column) +
                        between(moment_.usual_moisture.data(), coarse, half.row, half.column));
    result.temperature_500 += weight * moment_.climate.temperature_500(-90 + way[i].row * coarse.row_step());
    weights += weight;
  }
  result.moisture /= weights;
  result.temperature_500 /= weights;
  return result;
}

VortexEffect WeatherRow::storms(double longitude) const {
  VortexEffect sum;
  for (const Vortex& vortex : moment_.vortices)
    if (vortex.reaches(latitude_)) sum += vortex.at(latitude_, longitude);
  return sum;
}

AirColumn WeatherRow::at(int column) const {
  const SphereGrid& grid = moment_.grid;
  const std::size_t cell = grid.cell(row_, column);
  const double longitude = grid.longitude(column);
  const double land = moment_.land.fraction[cell], height = moment_.land.height[cell];
  const VortexEffect storm = storms(longitude);
  const Origin from = origin(longitude);
  const double advected = from.temperature_500 - mean_.temperature_500;
  const Wind eddy = wind_of(moment_.psi, grid, row_, column);

  AirColumn air{};
  air.height = height;
  air.land = land;
  const double tide = 110 * cosine_ * cosine_ * cosine_ * day_wave(moment_.hour_of_day, longitude, 9.7, 12);
  air.sea_pressure = mean_.pressure + balanced_pressure(moment_.psi[cell], latitude_) + tide;
  air.storm_pressure = storm.pressure;

  air.east_850 = mean_.wind_850 + eddy.east + storm.east;
  air.north_850 = eddy.north + storm.north;
  // Friction: slower, and turned towards low pressure; no turning at the equator.
  const double slow = 0.86 - 0.42 * land, calm = 1 - 0.4 * land;
  const double turn = (0.30 + 0.2 * land) * std::clamp(latitude_ / 10, -1.0, 1.0);
  air.east_bottom = mean_.wind_bottom * calm + slow * (eddy.east - turn * eddy.north) + storm.inflow_east;
  air.north_bottom = mean_.drift_bottom * calm + slow * (eddy.north + turn * eddy.east) + storm.inflow_north;

  // Troughs of the upper flow are cold below the tropopause and warm above it.
  const double upper = moment_.upper[cell] * 1e-6;
  air.temperature_500 = mean_.temperature_500 + 0.6 * advected + 0.5 * upper + storm.warm_500;
  air.temperature_200 = mean_.temperature_200 - 0.35 * advected -
                        1.8 * upper * (0.35 + 0.65 * std::min(1.0, std::abs(latitude_) / 30)) + storm.warm_200;

  const double sea = mean_.sea_temperature + moment_.sea_anomaly[cell];
  const double ground = sea + land * (land_warmth_ + 0.6 * advected) - 0.0065 * height;
  const double ice = (1 - land) * std::max(0.0, 8.0 - 0.8 * (sea - 271.35));
  const double noon = land * cosine_ * day_wave(moment_.hour_of_day, longitude, 14, 24);
  air.surface = ground + 7 * noon - ice;
  air.air = ground - cooler_air + 0.45 * advected * (1 - land) + 4.5 * noon - 1.2 * ice;

  const SphereGrid& coarse = moment_.past.grid;
  const auto coarse_row = static_cast<float>(coarse.row_of(latitude_)),
             coarse_column = static_cast<float>(coarse.column_of(longitude));
  const double warm_land =
      between(moment_.coarse_land.data(), coarse, coarse_row, coarse_column) * std::max(land_warmth_, -8.0);
  air.lower = mean_.sea_temperature - cooler_air + 0.45 * advected + 0.6 * warm_land;

  // Clouds last: they are taken from where the air was a day ago.
  const auto cloud_row =
      static_cast<float>(std::clamp(grid.row_of(-90 + from.day_ago.row * coarse.row_step()), 0.0, grid.height - 1.0));
  const auto cloud_column = static_cast<float>(grid.column_of(from.day_ago.column * coarse.column_step()));
  const double clouds = between(moment_.clouds.data(), grid, cloud_row, cloud_column);
  // Air from the equator rises and concentrates its water, air from the pole sinks and dries.
  const double carried =
      from.moisture * (1 + 0.15 * std::tanh(advected / 5)) * std::exp((0.08 + 0.10 * tropics_) * clouds);
  // How much the air can hold, for average coasts and mountains; more where a storm lifts it.
  const double warmth =
      mean_.sea_temperature + 0.4 * moment_.sea_anomaly[cell] - cooler_air + 0.5 * advected + warm_land;
  const double room = (2900 + 500 * std::min(1.0, -storm.pressure / 2000)) * saturation(warmth, 101300);
  const double filled = (carried + storm.moisture) / room, thinner = std::exp(-height / 2800);
  air.moisture = std::max(0.2, filled / std::pow(1 + std::pow(std::max(filled, 0.0), 8), 0.125) * room * thinner);
  air.usual_moisture = between(moment_.usual_moisture.data(), coarse, coarse_row, coarse_column) * thinner;

  const double lift = std::clamp(filled - 0.78 + 0.22 * moment_.convection[cell], 0.0, 0.9);
  // Over cold water the air is stable: clouds, but hardly any rain.
  const double stable = std::exp(0.6 * std::min(0.0f, moment_.sea_anomaly[cell]) * (1 - land));
  air.rain = 2.6e-5 * stable * lift * lift * lift * lift * std::min(1.0, std::pow(air.moisture / 40, 2)) + storm.rain;
  return air;
}

}  // namespace isobar::worlds
