// A track is the sum of three motions: the steering zonal wind, beta drift (poleward and westward, about 2 m/s: Chan
// and Williams 1987) and slow meanders; storms that reach the westerlies recurve. The pressure deficit relaxes to what
// the sea below can sustain, and faster to zero over land or cold water.
#include "isobar/worlds/cyclones.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "isobar/worlds/climate.hpp"

namespace isobar::worlds {
namespace {

constexpr std::int64_t slot_hours = 48, longest_life = 384;
constexpr double step_hours = 3;

struct Basin {
  double west, east, south, north;  // where storms are born
  double each_year, peak, months;   // births, day of the year with the most, half width of the season
};
constexpr Basin basins[] = {{122, 172, 7, 19, 46, 235, 3.0}, {238, 263, 9, 16, 27, 228, 2.2},
                            {285, 342, 9, 20, 22, 250, 1.9}, {62, 92, 8, 16, 5, 140, 1.0},
                            {62, 92, 8, 15, 6, 310, 1.2},    {52, 105, -16, -7, 24, 35, 2.4},
                            {112, 190, -17, -8, 22, 45, 2.2}};

double births(const Basin& basin, double day) {
  const double away = std::remainder(day - basin.peak, 365.0) / (basin.months * 30.4);
  const double share = std::exp(-away * away) / (basin.months * 30.4 * std::sqrt(std::numbers::pi));
  return basin.each_year * (0.97 * share + 0.03 / 365) * static_cast<double>(slot_hours) / 24;
}

// The random properties of a storm, drawn once.
enum Draw : std::uint64_t { begin, longitude, latitude, strength, size, life, shape, meander, arms = 12 };

std::optional<Storm> followed(const Basin& basin, std::int64_t birth, double hours, const Random& random) {
  const Climate climate(birth);
  Storm storm{.latitude = basin.south + (basin.north - basin.south) * random.uniform(latitude),
              .longitude = basin.west + (basin.east - basin.west) * random.uniform(longitude),
              .deficit = 150,
              .radius = 30e3 + 45e3 * random.uniform(size),
              .shape = 1.1 + 0.5 * random.uniform(shape),
              .east = 0,
              .north = 0,
              .hours = hours,
              .phase = 2 * std::numbers::pi * random.uniform(arms)};
  if (is_land(storm.latitude, storm.longitude)) return std::nullopt;
  // Half of all storms stay weak, one in ten loses more than 70 hPa.
  const double peak = std::min(9500.0, 1000 * std::exp(1.1 * std::sqrt(-std::log(random.uniform(strength)))));
  const double ends = 120 + 200 * random.uniform(life);
  const auto wave = [&](std::uint64_t n, double t) {
    const Random r = random.sub(meander + n);
    return std::sin(2 * std::numbers::pi * (t / (60 + 90 * r.uniform(0)) + r.uniform(1))) * (0.4 + r.uniform(2));
  };
  const double side = storm.latitude < 0 ? -1 : 1;
  for (double t = 0; t < hours; t += step_hours) {
    const double dt = std::min(step_hours, hours - t) * 3600;
    const double away = std::abs(storm.latitude);
    storm.east = 0.9 * climate.zonal(storm.latitude).wind_850 - 1.2 + 9 * smooth_step(away, 21, 40) + 1.6 * wave(0, t);
    storm.north = side * (1.1 + 5.0 * smooth_step(away, 17, 40)) + 1.3 * wave(1, t);
    storm.latitude += storm.north * dt / earth_radius / degree;
    storm.longitude += storm.east * dt / earth_radius / degree / std::cos(storm.latitude * degree);
    const double sea =
        climate.zonal(storm.latitude).sea_temperature + Climate::sea_anomaly(storm.latitude, storm.longitude);
    const bool land = is_land(storm.latitude, storm.longitude);
    const double fed = land ? 0 : peak * smooth_step(sea, 297.5, 301.5) * (1 - smooth_step(t, ends, ends + 60));
    const double relaxation = (fed > storm.deficit ? 42.0 : land ? 14.0 : 30.0) * 3600;
    storm.deficit += (fed - storm.deficit) * -std::expm1(-dt / relaxation);
    if (storm.deficit < 100 || away > 48) return std::nullopt;
  }
  // Storms widen on their way poleward.
  storm.radius *= 1 + 0.8 * smooth_step(std::abs(storm.latitude), 18, 42);
  storm.longitude -= 360 * std::floor(storm.longitude / 360);
  return storm;
}

}  // namespace

std::vector<Storm> storms_at(std::int64_t hour, const Random& random) {
  std::vector<Storm> storms;
  const auto slot_of = [](std::int64_t h) { return h >= 0 ? h / slot_hours : -((slot_hours - 1 - h) / slot_hours); };
  for (std::int64_t slot = slot_of(hour - longest_life); slot <= slot_of(hour); ++slot) {
    const double day = static_cast<double>(((slot * slot_hours) % 8760 + 8760) % 8760) / 24.0;
    for (std::size_t b = 0; b < std::size(basins); ++b) {
      const Random here = random.sub(slot).sub(b);
      // A Poisson-distributed number of births.
      const double expected = births(basins[b], day);
      double chance = std::exp(-expected), left = here.uniform(0) - chance;
      for (std::uint64_t n = 1; left > 0 && n < 6; ++n, left -= chance) {
        const Random own = here.sub(n);
        const auto birth = slot * slot_hours + static_cast<std::int64_t>(own.below(begin, slot_hours));
        if (birth <= hour && hour - birth < longest_life)
          if (auto storm = followed(basins[b], birth, static_cast<double>(hour - birth), own)) storms.push_back(*storm);
        chance *= expected / static_cast<double>(n);
      }
    }
  }
  return storms;
}

}  // namespace isobar::worlds
