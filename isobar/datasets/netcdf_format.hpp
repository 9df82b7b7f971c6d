// NetCDF files as `isobar data inspect` and `convert` see them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/datasets/format.hpp"
#include "isobar/hdf5/netcdf_file.hpp"

namespace isobar::datasets {

/// The files `path` names: a file, those below a folder that are named as NetCDF files are, or by a pattern.
std::vector<std::filesystem::path> list_netcdf(const std::filesystem::path& path);

/// The variables a data set takes when nobody names them: those of numbers on the grid that the first one has.
struct NetcdfGuess {
  std::vector<std::string> x;
  std::string y;  ///< the one that is named as labels are; "" when there is none
};
NetcdfGuess guess_variables(const hdf5::NetcdfFile& file, std::string_view time);

/// Whether a file is NetCDF: the classic kinds by their first bytes, NetCDF-4 as an HDF5 file that says so or is named
/// so.
bool recognises_netcdf(const Glance& glance);
Contents look_netcdf(const Glance& glance);
std::unique_ptr<SampleWriter> create_netcdf(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
