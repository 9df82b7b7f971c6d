// NetcdfFile: a NetCDF file of any kind open for reading: classic, 64-bit offset, CDF-5 and NetCDF-4. Reading is our
// own code and needs no lock: many threads may read one file. The NetCDF library only writes (netcdf_writer.hpp).
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "isobar/hdf5/netcdf_header.hpp"

namespace isobar::hdf5 {

class NetcdfFile {
 public:
  /// Opens a file, whose first bytes decide its kind; a file that is not NetCDF, or claims more than it holds, is an
  /// Error.
  explicit NetcdfFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  /// "NetCDF classic", "NetCDF-4", ...
  const std::string& kind() const { return header_.kind; }
  const std::vector<NetcdfDimension>& dimensions() const { return header_.dimensions; }
  const std::vector<NetcdfVariable>& variables() const { return header_.variables; }
  const std::vector<NetcdfAttribute>& attributes() const { return header_.attributes; }

  /// The variable with this name, or null.
  const NetcdfVariable* find(std::string_view name) const;
  /// The variable with this name; an unknown name is an Error that lists the known ones.
  const NetcdfVariable& variable(std::string_view name) const;

  /// Reads numbers as they are stored from a box of a variable of this file: one index and one extent per axis. T:
  /// float, double.
  template <class T>
  void read_stored(const NetcdfVariable& variable, Indices from, Indices extent, std::span<T> out) const;
  /// Reads values: unpacked, with `missing` where there is no value.
  template <class T>
  void read_values(const NetcdfVariable& variable, Indices from, Indices extent, std::span<T> out,
                   T missing = std::numeric_limits<T>::quiet_NaN()) const;
  /// All values of a variable, for coordinates; more than `most` are refused.
  std::vector<double> read_all(const NetcdfVariable& variable, std::int64_t most = std::int64_t{1} << 24) const;

 private:
  std::filesystem::path path_;
  NetcdfHeader header_;
  std::unique_ptr<NetcdfStorage> storage_;
};

}  // namespace isobar::hdf5
