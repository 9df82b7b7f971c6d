#include "isobar/worlds/climate.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/worlds/calendar.hpp"

namespace isobar::worlds {
namespace {

double bell(double x, double centre, double width) { return std::exp(-(x - centre) * (x - centre) / (width * width)); }

// A smooth patch on the map, in degrees.
struct Patch {
  double east, north, wide, high, size, summer;  // size + summer * (1 in July, -1 in January)
};

double patch(const Patch& p, double latitude, double longitude, double summer) {
  const double y = (latitude - p.north) / p.high;
  if (y * y > 12) return 0;
  const double away = std::remainder(longitude - p.east, 360.0) / p.wide;
  if (std::abs(latitude) < 60 && away * away > 48) return 0;  // most of the world; avoids the cosines
  const double x = away * std::cos(latitude * degree) / std::cos(p.north * degree);
  return x * x + y * y > 12 ? 0 : (p.size + p.summer * summer) * std::exp(-x * x - y * y);
}

// Sea surface temperature: warm pool, western boundary currents, upwelling along eastern shores.
constexpr Patch sea_patches[] = {{140, 3, 45, 14, 1.0, 0},   {272, 22, 18, 8, 1.8, 0},   {300, 40, 14, 6, 3.5, 0},
                                 {150, 38, 16, 5, 2.5, 0},   {240, 26, 11, 10, -4.8, 0}, {276, -14, 11, 11, -4.0, 0},
                                 {8, -20, 10, 12, -4.0, 0},  {340, 20, 10, 10, -2.5, 0}, {250, 0, 35, 4, -2.5, 0},
                                 {352, -31, 14, 9, -1.2, 0}, {0, 62, 25, 9, 5.0, 0},     {215, 58, 18, 8, 3.0, 0},
                                 {70, 12, 18, 12, 0.8, 0}};

// Standing highs and lows: metres of height of the 1000 hPa surface.
constexpr Patch pressure_patches[] = {{215, 37, 28, 12, 35, 35},  {322, 33, 26, 11, 38, 25}, {258, -30, 26, 11, 38, 0},
                                      {352, -29, 22, 10, 45, 8},  {85, -32, 26, 10, 42, 12}, {95, 48, 30, 13, 20, -95},
                                      {190, 53, 24, 10, -45, 50}, {328, 62, 20, 9, -50, 45}, {75, 28, 24, 10, -30, -32},
                                      {248, 31, 11, 8, -16, -22}, {15, 20, 22, 9, -8, -14},  {255, 48, 18, 12, 10, -25},
                                      {135, -25, 18, 9, 5, 22},   {256, 18, 15, 6, -10, -6}, {290, 31, 20, 8, 10, 10}};

}  // namespace

double smooth_step(double x, double from, double to) {
  const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double saturation(double temperature, double pressure) {
  const double celsius = temperature - 273.15;
  const double vapour = 611.2 * std::exp(17.67 * celsius / (celsius + 243.5));
  return 0.622 * vapour / (pressure - 0.378 * vapour);
}

Climate::Climate(std::int64_t hour) {
  const double day = day_of_year(hour);
  const auto season = [&](double middle) { return std::cos(2 * std::numbers::pi * (day - middle) / 365.0); };
  summer_ = season(203);
  sea_summer_ = season(232);
  const double s = summer_;
  for (int i = 0; i <= steps; ++i) {
    const double y = -90 + 180.0 * i / steps;
    ZonalMean& mean = table_[i];
    const double trades = -(4.2 - 1.4 * s) * bell(y, 15 + 4 * s, 10) - (4.6 + 1.6 * s) * bell(y, -13 + 2 * s, 10);
    const double west_north = (5.8 - 1.4 * s) * bell(y, 43 + 5 * s, 12),
                 west_south = 12 * bell(y, -50 - 2 * s, 14) + (1 + s) * bell(y, -32, 8);
    const double polar = -2.0 * bell(y, -74, 6) - 0.8 * bell(y, 80, 7);
    mean.wind_850 = static_cast<float>(trades + west_north + west_south + polar - 1.2 * bell(y, 0, 8));
    mean.wind_bottom = static_cast<float>(1.05 * trades - 1.6 * bell(y, -22, 9) + 0.45 * west_north +
                                          0.62 * west_south + polar - 0.8 * bell(y, 0, 8));
    // Fades to zero at the poles, where no direction is east.
    const float pole = static_cast<float>(std::min(1.0, (90 - std::abs(y)) / 12));
    mean.wind_850 *= pole;
    mean.wind_bottom *= pole;
    const double belt = 4 + 6 * s;
    mean.drift_bottom = static_cast<float>(-2.6 * bell(y, belt + 13, 10) + 2.2 * bell(y, belt - 15, 10));
    const double sea = std::abs(std::sin((y - 4.5 * sea_summer_) * degree));
    mean.sea_temperature = static_cast<float>(std::max(271.35, 302.6 - 40 * std::pow(sea, 2.5)));
    mean.temperature_500 = static_cast<float>(268.3 - 34 * std::pow(std::abs(std::sin((y - 7 * s) * degree)), 2.45));
    const double side = y < 0 ? -s : s;
    mean.temperature_200 = static_cast<float>(218.6 - 3.0 * bell(std::abs(y), 34, 14) * (1 - 0.3 * side) +
                                              (11.5 * side - 1.0) * smooth_step(std::abs(y), 38, 82));
    mean.storminess =
        static_cast<float>(3.8 + (4.2 - 1.6 * s) * bell(y, 47 + 3 * s, 17) +
                           (4.6 + 0.8 * s) * bell(y, -49 + 3 * s, 18) + 1.0 * smooth_step(std::abs(y), 60, 80));
  }
  // dp/dy = -rho f u, from the equator in both directions.
  const double step = 180.0 / steps * degree * earth_radius;
  constexpr int equator = steps / 2;
  table_[equator].pressure = 101030;
  for (const int direction : {1, -1})
    for (int i = equator; i != (direction > 0 ? steps : 0); i += direction) {
      const double y = -90 + 180.0 * (i + 0.5 * direction) / steps;
      const double wind = (table_[i].wind_bottom + table_[i + direction].wind_bottom) / 2;
      table_[i + direction].pressure =
          static_cast<float>(table_[i].pressure - direction * 1.2 * coriolis(y) * wind * 1.25 * step);
    }
}

ZonalMean Climate::zonal(double latitude) const {
  const double at = std::clamp((latitude + 90) / 180 * steps, 0.0, static_cast<double>(steps));
  const auto i = std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(steps - 1));
  const auto part = static_cast<float>(at - static_cast<double>(i));
  const ZonalMean &a = table_[i], &b = table_[i + 1];
  const auto mix = [part](float x, float y) { return x + part * (y - x); };
  return {mix(a.wind_850, b.wind_850),
          mix(a.wind_bottom, b.wind_bottom),
          mix(a.drift_bottom, b.drift_bottom),
          mix(a.pressure, b.pressure),
          mix(a.sea_temperature, b.sea_temperature),
          mix(a.temperature_500, b.temperature_500),
          mix(a.temperature_200, b.temperature_200),
          mix(a.storminess, b.storminess)};
}

float Climate::temperature_500(double latitude) const {
  const double at = std::clamp((latitude + 90) / 180 * steps, 0.0, static_cast<double>(steps));
  const auto i = std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(steps - 1));
  const float a = table_[i].temperature_500, b = table_[i + 1].temperature_500;
  return a + static_cast<float>(at - static_cast<double>(i)) * (b - a);
}

double Climate::sea_anomaly(double latitude, double longitude) {
  double sum = 0;
  for (const Patch& p : sea_patches) sum += patch(p, latitude, longitude, 0);
  return sum;
}

double Climate::standing(double latitude, double longitude, double summer) {
  double sum = 0;
  for (const Patch& p : pressure_patches) sum += patch(p, latitude, longitude, summer) * gravity / coriolis(p.north);
  return sum;
}

double Climate::land_anomaly(double latitude) const {
  const double away = std::sin(latitude * degree), side = latitude < 0 ? -summer_ : summer_;
  return side * (2 + 15 * away * away) * std::min(1.0, std::abs(latitude) / 15) - 7 * away * away;
}

double Climate::rain_belt(double longitude) const {
  const double asia = std::exp(-std::pow(std::remainder(longitude - 95, 360.0) / 45, 2));
  const double pacific = std::exp(-std::pow(std::remainder(longitude - 235, 360.0) / 60, 2));
  return 3.5 + 5.5 * sea_summer_ + asia * 6 * summer_ + pacific * (4 - 2.5 * sea_summer_);
}

double Climate::column_humidity(double latitude, double longitude, double land) const {
  const double away = latitude - rain_belt(longitude);
  const double warm_pool = std::exp(-std::pow(std::remainder(longitude - 130, 360.0) / 60, 2));
  const double wet = bell(away, 0, 8 + 6 * warm_pool), side = latitude < 0 ? -summer_ : summer_;
  const double dry = bell(std::abs(latitude), 24, 13) * (1 - wet) * (1 - 0.5 * side);
  const double high = smooth_step(std::abs(latitude), 35, 60);
  return 0.73 + 0.18 * wet - 0.09 * dry + 0.06 * high - land * 0.14 * dry;
}

}  // namespace isobar::worlds
