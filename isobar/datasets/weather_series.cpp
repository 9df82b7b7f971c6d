#include "isobar/datasets/weather_series.hpp"

#include "isobar/base/error.hpp"
#include "isobar/worlds/calendar.hpp"
#include "isobar/worlds/weather_labels.hpp"

namespace isobar::datasets {
namespace {

WeatherOptions checked(const WeatherOptions& options) {
  if (options.hours < 1 || options.hours > 24 * 365)
    fail_usage("atmosphere: hours = {} from frame to frame; valid is 1 to 8760", options.hours);
  return options;
}

}  // namespace

WeatherSeries::WeatherSeries(const WeatherOptions& options)
    : options_(checked(options)), start_(worlds::hour_of(options.start)), atmosphere_(options.atmosphere) {}

WeatherFrame WeatherSeries::make(std::int64_t frame) const {
  WeatherFrame result;
  result.state.resize(atmosphere_.count());
  atmosphere_.make(hour(frame), result.state);
  using Rules = worlds::LabelRules;
  for (const int set : {0, 1})
    for (const auto label :
         worlds::label_weather(atmosphere_.grid(), result.state, set == 0 ? Rules::usual() : Rules::relaxed()))
      result.labels[set].push_back(static_cast<std::uint8_t>(label));
  return result;
}

std::string WeatherSeries::name(std::int64_t frame) const {
  const worlds::WorldDate date = worlds::date_of(hour(frame));
  return fmt::format("data-{:04}-{:02}-{:02}-{:02}-{}", date.year, date.month, date.day, date.hour / 3,
                     options_.atmosphere.run);
}

Spec WeatherSeries::settings() const {
  const worlds::AtmosphereOptions& weather = options_.atmosphere;
  return Spec("atmosphere", {{"height", weather.height},
                             {"width", weather.width},
                             {"seed", static_cast<std::int64_t>(weather.seed)},
                             {"run", weather.run}});
}

Geography geography_of(const WeatherSeries& series) {
  const worlds::SphereGrid& grid = series.atmosphere().grid();
  Geography made{{"lat", {}, {{"standard_name", "latitude"}, {"units", "degrees_north"}}},
                 {"lon", {}, {{"standard_name", "longitude"}, {"units", "degrees_east"}}},
                 "hours since 2000-01-01 00:00:00",
                 "noleap",
                 [&series](std::int64_t frame) { return static_cast<double>(series.hour(frame)); }};
  for (int row = 0; row < grid.height; ++row) made.row.places.push_back(grid.latitude(row));
  for (int column = 0; column < grid.width; ++column) made.column.places.push_back(grid.longitude(column));
  return made;
}

}  // namespace isobar::datasets
