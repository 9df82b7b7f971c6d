#include "isobar/worlds/vortex.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/worlds/sphere.hpp"

namespace isobar::worlds {
namespace {

constexpr double density = 1.15;

double edge(double distance) {
  const double t = std::clamp((Vortex::reach - distance) / 6e5, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

}  // namespace

VortexEffect& VortexEffect::operator+=(const VortexEffect& other) {
  pressure += other.pressure;
  east += other.east;
  north += other.north;
  inflow_east += other.inflow_east;
  inflow_north += other.inflow_north;
  warm_500 += other.warm_500;
  warm_200 += other.warm_200;
  moisture += other.moisture;
  rain += other.rain;
  return *this;
}

Vortex::Vortex(const Storm& storm, double cell) : storm_(storm), coriolis_(std::abs(coriolis(storm.latitude))) {
  const double seen = std::hypot(storm.radius, 0.8 * cell);
  storm_.deficit *= std::sqrt(storm.radius / seen);
  storm_.radius = seen;
}

double Vortex::deficit(double distance) const {
  const double ratio = std::pow(storm_.radius / std::max(distance, 1.0), storm_.shape);
  return storm_.deficit * -std::expm1(-ratio);
}

double Vortex::wind(double distance) const {
  const double r = std::max(distance, 1.0), ratio = std::pow(storm_.radius / r, storm_.shape);
  const double half = r * coriolis_ / 2;
  return std::sqrt(storm_.shape * storm_.deficit / density * ratio * std::exp(-ratio) + half * half) - half;
}

double Vortex::swirl(double distance) const {
  const double r = std::max(distance, storm_.radius);
  return 7 * std::tanh(wind(r) / r * 12 * 3600 / 7) * edge(distance);
}

VortexEffect Vortex::at(double latitude, double longitude) const {
  const double r = great_circle(storm_.latitude, storm_.longitude, latitude, longitude);
  if (r > reach) return {};
  const double x =
      std::remainder(longitude - storm_.longitude, 360.0) * std::cos((latitude + storm_.latitude) / 2 * degree);
  const double y = latitude - storm_.latitude, length = std::max(std::hypot(x, y), 1e-6);
  const double side = storm_.latitude < 0 ? -1 : 1, fade = edge(r);
  const double speed = wind(r) * fade;
  VortexEffect effect;
  effect.pressure = -deficit(r) * fade;
  effect.east = -side * y / length * speed;
  effect.north = side * x / length * speed;
  // Friction turns the wind 22 degrees inward.
  constexpr double c = 0.76 * 0.927, s = 0.76 * 0.375;
  effect.inflow_east = c * effect.east - s * x / length * speed;
  effect.inflow_north = c * effect.north - s * y / length * speed;

  const double strength = storm_.deficit / 5000, core = 1.6e5 + 2.2 * storm_.radius;
  const double warmth = std::exp(-r * r / (core * core));
  effect.warm_500 = 5.0 * strength * warmth;
  effect.warm_200 = 5.5 * strength * warmth;

  // Two arms along logarithmic spirals that turn with the storm.
  const double azimuth = std::atan2(y, x) * side;
  const double arm = 2 * azimuth + 3.2 * std::log(1 + r / 9e4) - storm_.phase - 0.35 * storm_.hours;
  const double band = 0.5 + 0.5 * std::cos(arm);
  const double outer = std::exp(-r * r / (4.6e5 * 4.6e5)), inner = std::exp(-r * r / (1.7e5 * 1.7e5));
  const double vigour = std::min(1.0, 0.35 + 0.5 * strength);
  effect.moisture =
      vigour * (16 * inner + outer * (13 * band * band - 4.0) + 3 * fade * std::exp(-r * r / (8e5 * 8e5)));
  const double wall = std::exp(-std::pow((r - 1.2 * storm_.radius) / (0.8 * storm_.radius), 2));
  effect.rain = strength * 3.2e-6 * wall + vigour * (6e-7 * inner + 9e-7 * outer * std::pow(band, 4));
  return effect;
}

bool Vortex::reaches(double latitude) const {
  return std::abs(storm_.latitude - latitude) <= reach / earth_radius / degree;
}

SpherePlace before_turning(std::span<const Vortex> vortices, SpherePlace place) {
  for (const Vortex& vortex : vortices) {
    if (!vortex.reaches(place.latitude)) continue;
    const Storm& storm = vortex.storm();
    const double distance = great_circle(place.latitude, place.longitude, storm.latitude, storm.longitude);
    if (distance > Vortex::reach) continue;
    const double narrow = std::cos(storm.latitude * degree);
    const double x = std::remainder(place.longitude - storm.longitude, 360.0) * narrow,
                 y = place.latitude - storm.latitude;
    const double angle = (storm.latitude < 0 ? 1 : -1) * vortex.swirl(distance), c = std::cos(angle),
                 s = std::sin(angle);
    place = {std::clamp(storm.latitude + s * x + c * y, -90.0, 90.0), storm.longitude + (c * x - s * y) / narrow};
  }
  return place;
}

}  // namespace isobar::worlds
