// What the axes of a NetCDF variable stand for in the CF conventions: time, latitude, longitude, level; found by the
// attributes of their coordinates, else by usual names. Time numbers the samples, latitude and longitude stay axes of a
// sample, all other axes become channels.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/datasets/geography.hpp"
#include "isobar/hdf5/cf_time.hpp"
#include "isobar/hdf5/netcdf_file.hpp"

namespace isobar::datasets {

enum class AxisRole { time, level, row, column, other };

/// The role of a dimension of a file.
AxisRole role_of(const hdf5::NetcdfFile& file, std::size_t dimension);

/// The variable that gives the places along a dimension: with the same name and only this dimension; or null.
const hdf5::NetcdfVariable* coordinate_of(const hdf5::NetcdfFile& file, std::size_t dimension);

/// A dimension as an axis of a grid: with the places and attributes of its coordinate, if it has one.
GridAxis grid_axis(const hdf5::NetcdfFile& file, std::size_t dimension);

/// The axes of one variable.
struct NetcdfAxes {
  std::optional<std::size_t> time;
  std::vector<std::size_t> space;     ///< latitude before longitude, whatever their order in the file
  std::vector<std::size_t> channels;  ///< those that become channels
  std::optional<std::size_t> level;   ///< the axis in `channels` that `level` selects from

  bool operator==(const NetcdfAxes&) const = default;
};

/// Sorts the axes of a variable; `time` names the dimension that numbers samples, "" means the time dimension.
NetcdfAxes axes_of(const hdf5::NetcdfFile& file, const hdf5::NetcdfVariable& variable, std::string_view time);

/// One channel of a variable: its name, and one index per axis, 0 on the axes of time and space.
struct NetcdfChannel {
  std::string name;
  std::vector<std::int64_t> from;
};

/// The channels of a variable: all places along its axes `channels`, or only those where the level has one of these
/// values; a value it does not have is an Error that lists those it has.
std::vector<NetcdfChannel> channels_of(const hdf5::NetcdfFile& file, const hdf5::NetcdfVariable& variable,
                                       const NetcdfAxes& axes, std::span<const double> levels);

/// The instants along a dimension of a file, according to its coordinate.
struct NetcdfTimes {
  std::vector<hdf5::Instant> instants;
  hdf5::Calendar calendar = hdf5::Calendar::standard;
  std::string obstacle;  ///< why there are no instants
};

/// Reads the times along a dimension.
NetcdfTimes times_along(const hdf5::NetcdfFile& file, std::size_t dimension);

/// The single time of a whole file: one number with units of time; no instant if there is none.
NetcdfTimes time_of_file(const hdf5::NetcdfFile& file);

}  // namespace isobar::datasets
