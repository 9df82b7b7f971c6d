// NetCDF files as `isobar data inspect` and `convert` see them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "isobar/datasets/format.hpp"
#include "isobar/hdf5/netcdf_file.hpp"

namespace isobar::datasets {

/// The files `path` names: a file, those below a folder that have a NetCDF extension, or those that match a pattern.
std::vector<std::filesystem::path> list_netcdf(const std::filesystem::path& path);

/// The variables a data set takes by default: the numeric ones on the same grid as the first.
struct NetcdfGuess {
  std::vector<std::string> x;
  std::string y;  ///< the one with a usual name for labels; "" if there is none
};
NetcdfGuess guess_variables(const hdf5::NetcdfFile& file, std::string_view time);

/// Whether a file is NetCDF: the classic kinds by their first bytes, NetCDF-4 as an HDF5 file whose content or name
/// says so.
bool recognises_netcdf(const Glance& glance);
/// Whether an HDF5 file is NetCDF-4, by its name or by what the NetCDF library leaves in its first bytes.
bool has_netcdf_marks(const Glance& glance);
Contents look_netcdf(const Glance& glance);
std::unique_ptr<SampleWriter> create_netcdf(const std::filesystem::path& to, const Outline& outline, Args& args);

}  // namespace isobar::datasets
