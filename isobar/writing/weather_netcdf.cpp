// A frame as CF NetCDF (conventions 1.8): one time step, years of 365 days, channels as variables with units.
#include <array>
#include <optional>

#include "isobar/base/error.hpp"
#include "isobar/hdf5/netcdf_file.hpp"
#include "isobar/hdf5/netcdf_writer.hpp"
#include "isobar/writing/weather_file.hpp"

namespace isobar::writing {
namespace {

using files::NumberType;
using hdf5::NetcdfWriter;

// A coordinate: a variable over its own dimension.
void write_axis(NetcdfWriter& file, int variable, std::span<const double> values) {
  const std::array<std::int64_t, 1> from{0}, extent{std::ssize(values)};
  file.write<double>(variable, from, extent, values);
}

int add_axis(NetcdfWriter& file, const datasets::GridAxis& axis, int dimension) {
  const std::array<int, 1> over{dimension};
  const int variable = file.add_variable(axis.name, NumberType::float64, over);
  for (const auto& [key, value] : axis.attributes) file.set_text(variable, key, value);
  return variable;
}

}  // namespace

void write_weather_netcdf(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame,
                          const datasets::WeatherFrame& made) {
  const worlds::SphereGrid& grid = series.atmosphere().grid();
  NetcdfWriter file(path, hdf5::NetcdfKind::netcdf4);
  const std::array<int, 3> over{file.add_dimension("time", NetcdfWriter::unlimited),
                                file.add_dimension("lat", grid.height), file.add_dimension("lon", grid.width)};
  const datasets::Geography places = datasets::geography_of(series);
  const int time = add_axis(file, datasets::time_axis(places), over[0]);
  const int north = add_axis(file, places.row, over[1]);
  const int east = add_axis(file, places.column, over[2]);
  std::vector<int> variables;
  for (const worlds::ChannelInfo& channel : worlds::channels) {
    variables.push_back(file.add_variable(channel.name, NumberType::float32, over));
    file.set_text(variables.back(), "units", channel.unit);
    file.set_text(variables.back(), "long_name", channel.meaning);
  }
  std::array<int, 2> labels{};
  for (const std::size_t set : {0, 1}) {
    labels[set] = file.add_variable(set == 0 ? "LABELS" : "LABELS_1", NumberType::uint8, over);
    const std::array<double, 3> classes{0, 1, 2};
    file.set_numbers(labels[set], "flag_values", NumberType::uint8, classes);
    file.set_text(labels[set], "flag_meanings", "background tropical_cyclone atmospheric_river");
  }
  file.set_text(NetcdfWriter::file, "Conventions", "CF-1.8");
  file.set_text(NetcdfWriter::file, "title", "a state of a made atmosphere");
  file.set_text(NetcdfWriter::file, "settings", series.settings().str());

  const std::array<double, 1> hour{places.time(frame)};
  write_axis(file, time, hour);
  write_axis(file, north, places.row.places);
  write_axis(file, east, places.column.places);
  const std::array<std::int64_t, 3> from{0, 0, 0}, extent{1, grid.height, grid.width};
  worlds::Plane plane(grid.cells());
  for (std::size_t channel = 0; channel < variables.size(); ++channel) {
    for (std::size_t cell = 0; cell < plane.size(); ++cell)
      plane[cell] = made.state[cell * worlds::channel_count + channel];
    file.write<float>(variables[channel], from, extent, plane);
  }
  for (const std::size_t set : {0, 1}) file.write<std::uint8_t>(labels[set], from, extent, made.labels[set]);
  file.commit();
}

bool is_weather_netcdf(const std::filesystem::path& path, const datasets::WeatherSeries& series, std::int64_t frame) {
  std::optional<hdf5::NetcdfFile> file;
  try {
    file.emplace(path);
  } catch (const Error&) {
    return false;
  }
  std::string settings;
  for (const hdf5::NetcdfAttribute& attribute : file->attributes())
    if (attribute.name == "settings") settings = attribute.text;
  expect_settings(path, settings, series);
  const hdf5::NetcdfVariable *time = file->find("time"), *last = file->find("LABELS_1");
  if (!time || !last) return false;
  const std::vector<double> hours = file->read_all(*time);
  return hours.size() == 1 && hours[0] == static_cast<double>(series.hour(frame));
}

}  // namespace isobar::writing
