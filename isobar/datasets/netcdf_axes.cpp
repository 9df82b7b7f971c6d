#include "isobar/datasets/netcdf_axes.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"

namespace isobar::datasets {
namespace {

using hdf5::NetcdfFile;
using hdf5::NetcdfVariable;

bool one_of(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool has_time_units(const NetcdfVariable& variable) {
  return variable.is_numbers() && hdf5::CfTime::looks_like(variable.text("units"));
}

// The variable with the times along a dimension: its coordinate, or another one along it alone, like WRF's XTIME.
const NetcdfVariable* clock_along(const NetcdfFile& file, std::size_t dimension) {
  const NetcdfVariable* coordinate = coordinate_of(file, dimension);
  if (coordinate && has_time_units(*coordinate)) return coordinate;
  for (const NetcdfVariable& variable : file.variables())
    if (variable.dimensions == std::vector{dimension} && has_time_units(variable)) return &variable;
  return nullptr;
}

AxisRole role_by_attributes(const NetcdfVariable& coordinate) {
  const std::string axis = lower_case(coordinate.text("axis")), units = lower_case(coordinate.text("units"));
  const std::string standard = lower_case(coordinate.text("standard_name"));
  if (axis == "t" || standard == "time") return AxisRole::time;
  if (axis == "y" || one_of(standard, {"latitude", "grid_latitude", "projection_y_coordinate"}) ||
      one_of(units, {"degrees_north", "degree_north", "degrees_n", "degree_n"}))
    return AxisRole::row;
  if (axis == "x" || one_of(standard, {"longitude", "grid_longitude", "projection_x_coordinate"}) ||
      one_of(units, {"degrees_east", "degree_east", "degrees_e", "degree_e"}))
    return AxisRole::column;
  if (axis == "z" || coordinate.attribute("positive") ||
      one_of(standard, {"air_pressure", "height", "altitude", "depth"}) ||
      one_of(units, {"pa", "hpa", "kpa", "mb", "mbar", "millibar", "millibars", "bar", "level", "sigma_level"}))
    return AxisRole::level;
  return AxisRole::other;
}

AxisRole role_by_name(const std::string& name) {
  if (name.starts_with("time") || one_of(name, {"t", "xtime", "date"})) return AxisRole::time;
  if (one_of(name, {"lat", "latitude", "nlat", "rlat", "y", "south_north", "j"})) return AxisRole::row;
  if (one_of(name, {"lon", "longitude", "nlon", "rlon", "x", "west_east", "i"})) return AxisRole::column;
  for (const std::string_view word : {"lev", "plev", "isobaric", "height", "depth", "pressure", "bottom_top", "alt"})
    if (name.starts_with(word)) return AxisRole::level;
  return name == "z" ? AxisRole::level : AxisRole::other;
}

NetcdfTimes times_told_by(const NetcdfFile& file, const NetcdfVariable& clock) {
  NetcdfTimes times;
  try {
    times.calendar = hdf5::calendar_of(clock.text("calendar"));
    const hdf5::CfTime units(clock.text("units"), times.calendar);
    for (const double number : file.read_all(clock)) times.instants.push_back(units.instant(number));
  } catch (const Error& error) {
    times.instants.clear();
    times.obstacle = fmt::format("variable '{}': {}", clock.name, error.what());
  }
  return times;
}

}  // namespace

const NetcdfVariable* coordinate_of(const NetcdfFile& file, std::size_t dimension) {
  const NetcdfVariable* found = file.find(file.dimensions()[dimension].name);
  return found && found->dimensions == std::vector{dimension} ? found : nullptr;
}

GridAxis grid_axis(const NetcdfFile& file, std::size_t dimension) {
  GridAxis axis{.name = last_part(file.dimensions()[dimension].name)};
  const NetcdfVariable* coordinate = coordinate_of(file, dimension);
  if (!coordinate || !coordinate->is_numbers()) return axis;
  axis.places = file.read_all(*coordinate);
  for (const char* key : {"standard_name", "long_name", "units", "axis", "positive"})
    if (const std::string text = coordinate->text(key); !text.empty()) axis.attributes.emplace_back(key, text);
  return axis;
}

AxisRole role_of(const NetcdfFile& file, std::size_t dimension) {
  if (clock_along(file, dimension)) return AxisRole::time;
  AxisRole role = AxisRole::other;
  if (const NetcdfVariable* coordinate = coordinate_of(file, dimension)) role = role_by_attributes(*coordinate);
  return role != AxisRole::other ? role : role_by_name(lower_case(last_part(file.dimensions()[dimension].name)));
}

NetcdfAxes axes_of(const NetcdfFile& file, const NetcdfVariable& variable, std::string_view time) {
  NetcdfAxes axes;
  std::vector<AxisRole> roles;
  for (const std::size_t dimension : variable.dimensions) roles.push_back(role_of(file, dimension));
  const auto at = [&](AxisRole role) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(roles, role);
    if (found == roles.end()) return std::nullopt;
    return found - roles.begin();
  };
  if (time.empty()) {
    axes.time = at(AxisRole::time);
    // Records without a time are still in sequence.
    if (!axes.time && !roles.empty() && file.dimensions()[variable.dimensions[0]].unlimited &&
        roles[0] == AxisRole::other)
      axes.time = 0;
  } else {
    for (std::size_t a = 0; a < roles.size(); ++a)
      if (file.dimensions()[variable.dimensions[a]].name == time) axes.time = a;
  }
  const std::optional<std::size_t> row = at(AxisRole::row), column = at(AxisRole::column);
  const bool grid = row && column;
  if (grid) axes.space = {*row, *column};
  for (std::size_t a = 0; a < roles.size(); ++a) {
    if (a == axes.time || (grid && (a == *row || a == *column))) continue;
    // Without latitude and longitude, the other axes are those of some other grid.
    if (grid || roles[a] == AxisRole::level) axes.channels.push_back(a);
    else axes.space.push_back(a);
  }
  std::vector<std::size_t> long_ones;
  for (const std::size_t a : axes.channels) {
    if (roles[a] == AxisRole::level && !axes.level) axes.level = a;
    if (variable.shape[a] > 1) long_ones.push_back(a);
  }
  if (!axes.level && long_ones.size() == 1) axes.level = long_ones[0];
  return axes;
}

std::vector<NetcdfChannel> channels_of(const NetcdfFile& file, const NetcdfVariable& variable, const NetcdfAxes& axes,
                                       std::span<const double> levels) {
  const std::size_t rank = variable.shape.rank();
  std::vector<NetcdfChannel> made{{variable.name, std::vector<std::int64_t>(rank, 0)}};
  for (const std::size_t axis : axes.channels) {
    const std::int64_t size = variable.shape[axis];
    const NetcdfVariable* coordinate = coordinate_of(file, variable.dimensions[axis]);
    std::vector<double> places(size);
    if (coordinate && coordinate->is_numbers()) places = file.read_all(*coordinate);
    else
      for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<double>(i);
    std::vector<std::size_t> chosen;
    if (axis == axes.level && !levels.empty()) {
      for (const double level : levels) {
        const auto near = [&](double place) { return std::abs(place - level) <= 1e-4 * std::abs(level); };
        const auto found = std::ranges::find_if(places, near);
        if (found == places.end()) {
          std::vector<std::string> known;
          for (const double place : places) known.push_back(fmt::format("{:g}", place));
          fail("{}: variable '{}' has no level {:g}; its levels are {} ({})", file.path().string(), variable.name,
               level, one_line(join(known, ", ")), coordinate ? coordinate->text("units") : "numbers");
        }
        chosen.push_back(found - places.begin());
      }
    } else {
      for (std::size_t i = 0; i < places.size(); ++i) chosen.push_back(i);
    }
    std::vector<NetcdfChannel> further;
    for (const NetcdfChannel& channel : made)
      for (const std::size_t i : chosen) {
        further.push_back(channel);
        further.back().from[axis] = i;
        if (size > 1) further.back().name += fmt::format("@{:g}", places[i]);
      }
    made = std::move(further);
    constexpr std::size_t most_channels = 100'000;
    if (made.size() > most_channels)
      fail("{}: variable '{}' would give more than {} channels; choose with level=", file.path().string(),
           variable.name, most_channels);
  }
  return made;
}

NetcdfTimes times_along(const NetcdfFile& file, std::size_t dimension) {
  if (const NetcdfVariable* clock = clock_along(file, dimension)) return times_told_by(file, *clock);
  const NetcdfVariable* coordinate = coordinate_of(file, dimension);
  return {{},
          {},
          fmt::format("dimension '{}' has no coordinate with units such as 'hours since 1900-01-01'{}",
                      file.dimensions()[dimension].name,
                      coordinate ? fmt::format(" but '{}'", coordinate->text("units")) : "")};
}

NetcdfTimes time_of_file(const NetcdfFile& file) {
  const NetcdfVariable* found = nullptr;
  for (const NetcdfVariable& variable : file.variables()) {
    if (!variable.dimensions.empty() || !has_time_units(variable)) continue;
    if (!found || variable.text("standard_name") == "time" || variable.name == "time") found = &variable;
  }
  if (found) return times_told_by(file, *found);
  return {{}, {}, "there is no single time with units such as 'hours since 1900-01-01'"};
}

}  // namespace isobar::datasets
