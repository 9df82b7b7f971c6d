#include "isobar/worlds/atmosphere.hpp"

#include <algorithm>
#include <cmath>

#include "isobar/base/error.hpp"
#include "isobar/worlds/mesh.hpp"
#include "isobar/worlds/sphere.hpp"
#include "isobar/worlds/weather.hpp"

namespace isobar::worlds {
namespace {

constexpr int stirring_degree = 42;  // waves of 1,000 km and more stir
constexpr std::size_t moments = 13;  // four days back
constexpr double moment_hours = 8;
constexpr double stirring_gain = 1.3;  // moist air flows a little above 850 hPa, and faster
enum AtmosphereStream : std::uint64_t { flow_stream, upper_stream, moisture_stream, convection_stream, storm_stream };

AtmosphereOptions checked(const AtmosphereOptions& options) {
  if (options.height < 16 || options.height > 8192 || options.width < 24 || options.width > 16384)
    fail_usage("atmosphere: {} x {} points; valid are 16 to 8192 rows and 24 to 16384 columns", options.height,
               options.width);
  if (options.run < 0) fail_usage("atmosphere: run = {}; valid is 0 or more", options.run);
  if (options.threads < 0) fail_usage("atmosphere: threads = {}; valid is 0 (all) or more", options.threads);
  return options;
}

// A function of latitude and longitude on a grid.
template <class F>
Plane drawn(const SphereGrid& grid, int threads, F f) {
  Plane plane(grid.cells());
  each_part(grid.height, threads, [&](int row) {
    for (int column = 0; column < grid.width; ++column)
      plane[grid.cell(row, column)] = static_cast<float>(f(grid.latitude(row), grid.longitude(column)));
  });
  return plane;
}

}  // namespace

Atmosphere::Stage::Stage(const SphereGrid& on, int threads)
    : grid(on),
      harmonics(grid, threads),
      land(make_land(grid)),
      mean(drawn(on, threads, [](double y, double x) { return Climate::standing(y, x, 0); })),
      summer(drawn(on, threads, [](double y, double x) { return Climate::standing(y, x, 1); })) {
  for (std::size_t cell = 0; cell < mean.size(); ++cell) summer[cell] -= mean[cell];
}

void Atmosphere::Stage::complete(Plane& eddies, const Climate& climate, int row) const {
  const std::size_t begin = grid.cell(row, 0), end = grid.cell(row + 1, 0);
  const float storminess = climate.zonal(grid.latitude(row)).storminess, season = static_cast<float>(climate.summer());
  for (std::size_t cell = begin; cell < end; ++cell)
    eddies[cell] = storminess * eddies[cell] + mean[cell] + season * summer[cell];
}

Atmosphere::Atmosphere(const AtmosphereOptions& options)
    : options_(checked(options)),
      random_(Random(options.seed).sub(options.run)),
      fine_({options.height, options.width}, options.threads),
      coarse_({121, 240}, options.threads),
      sea_anomaly_(drawn(fine_.grid, options.threads, Climate::sea_anomaly)),
      flow_({EddyKind::wind, 13, 20, 90}, random_.sub(flow_stream)),
      upper_({EddyKind::wind, 9, 24, 100}, random_.sub(upper_stream)),
      moisture_({EddyKind::scalar, 7, -4, 90}, random_.sub(moisture_stream)),
      convection_({EddyKind::scalar, 40, -4, 20}, random_.sub(convection_stream)) {}

std::vector<Storm> Atmosphere::storms(std::int64_t hour) const {
  return options_.storms ? storms_at(hour, random_.sub(storm_stream)) : std::vector<Storm>{};
}

Past Atmosphere::past_winds(std::int64_t hour, const Climate& climate) const {
  const SphereGrid& coarse = coarse_.grid;
  Past past{coarse, moment_hours, std::vector<Flow>(moments)};
  std::vector<Coefficients> eddies;
  for (std::size_t i = 0; i < moments; ++i)
    eddies.push_back(flow_.at(static_cast<double>(hour) - static_cast<double>(i) * moment_hours, stirring_degree));
  std::vector<Plane> psi(moments);
  coarse_.harmonics.synthesise(eddies, psi);
  each_part(moments, options_.threads, [&](int moment) {
    Plane& plane = psi[moment];
    for (int row = 0; row < coarse.height; ++row) coarse_.complete(plane, climate, row);
    Flow& flow = past.flows[moment];
    flow = {Plane(coarse.cells()), Plane(coarse.cells())};
    std::size_t cell = 0;
    for (int row = 0; row < coarse.height; ++row) {
      const double latitude = coarse.latitude(row), mean = climate.zonal(latitude).wind_850;
      const double metres = 3600 / (earth_radius * degree);
      // Near a pole the wind would cross all meridians within a step.
      const double narrow = std::max(0.1, std::cos(latitude * degree));
      for (int column = 0; column < coarse.width; ++column, ++cell) {
        const Wind wind = wind_of(plane, coarse, row, column);
        flow.rows[cell] = static_cast<float>(stirring_gain * wind.north * metres / coarse.row_step());
        flow.columns[cell] =
            static_cast<float>((stirring_gain * wind.east + mean) * metres / (coarse.column_step() * narrow));
      }
    }
  });
  return past;
}

Plane Atmosphere::usual_moisture(const Climate& climate) const {
  const SphereGrid& coarse = coarse_.grid;
  Plane plane(coarse.cells());
  std::size_t cell = 0;
  for (int row = 0; row < coarse.height; ++row)
    for (int column = 0; column < coarse.width; ++column, ++cell) {
      const double latitude = coarse.latitude(row), longitude = coarse.longitude(column);
      const double land = coarse_.land.fraction[cell];
      const double sea = climate.zonal(latitude).sea_temperature + Climate::sea_anomaly(latitude, longitude);
      const double air = sea - 1.4 + land * climate.land_anomaly(latitude);
      // A column holds as much water as 2.6 km of saturated air, times its humidity.
      plane[cell] =
          static_cast<float>(2620 * climate.column_humidity(latitude, longitude, land) * saturation(air, 101300));
    }
  return plane;
}

void Atmosphere::make(std::int64_t hour, std::span<float> state) const {
  expects(state.size() == count(), "room for height x width x 16 numbers");
  const SphereGrid& grid = fine_.grid;
  std::vector<Coefficients> eddies;
  for (const Eddies* source : {&flow_, &upper_, &moisture_, &convection_})
    eddies.push_back(source->at(static_cast<double>(hour), Harmonics::finest(grid), options_.threads));
  std::vector<Plane> fields(eddies.size());
  fine_.harmonics.synthesise(eddies, fields);

  const Climate climate(hour);
  each_part(grid.height, options_.threads, [&](int row) { fine_.complete(fields[0], climate, row); });
  WeatherMoment moment{.grid = grid,
                       .hour_of_day = static_cast<double>(((hour % 24) + 24) % 24),
                       .climate = climate,
                       .land = fine_.land,
                       .sea_anomaly = sea_anomaly_,
                       .psi = std::move(fields[0]),
                       .upper = std::move(fields[1]),
                       .clouds = std::move(fields[2]),
                       .convection = std::move(fields[3]),
                       .past = past_winds(hour, climate),
                       .usual_moisture = usual_moisture(climate),
                       .coarse_land = coarse_.land.fraction,
                       .vortices = {}};
  for (const Storm& storm : storms(hour)) moment.vortices.emplace_back(storm, grid.row_step() * degree * earth_radius);

  each_part(grid.height, options_.threads, [&](int row) {
    const WeatherRow weather(moment, row);
    float* out = state.data() + static_cast<std::ptrdiff_t>(row) * grid.width * channel_count;
    for (int column = 0; column < grid.width; ++column, out += channel_count)
      fill_channels(weather.at(column), std::span<float, channel_count>(out, channel_count));
  });
}

}  // namespace isobar::worlds
