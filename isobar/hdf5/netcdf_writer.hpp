// NetcdfWriter: writes a new NetCDF file with the NetCDF library; the only code that calls it, under the lock of HDF5,
// on which it builds. First declare dimensions, variables and attributes, then write numbers. The file is written under
// a temporary name and appears under its own in commit(), or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "isobar/files/number_type.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::hdf5 {

enum class NetcdfKind { classic, offset64, cdf5, netcdf4 };

/// The kind with this name: classic, 64bit, cdf5, netcdf4; nullopt for any other text.
std::optional<NetcdfKind> netcdf_kind(std::string_view name);

class NetcdfWriter {
 public:
  static constexpr int file = -1;               ///< in place of a variable: attributes of the file itself
  static constexpr std::int64_t unlimited = 0;  ///< a dimension that grows as data is written

  /// Begins a file, which replaces an existing one in commit(); the folder must exist.
  NetcdfWriter(std::filesystem::path path, NetcdfKind kind);
  /// Closes the file; if it was not committed, it is removed.
  ~NetcdfWriter();
  NetcdfWriter(const NetcdfWriter&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Adds a dimension; returns its number.
  int add_dimension(std::string_view name, std::int64_t size);
  /// Adds a variable over dimensions, the unlimited one first; returns its number. NetCDF has no bool8 and no float16;
  /// classic and 64bit have no unsigned types and no int64. `deflate` 1 to 9 compresses, in kind netcdf4 only.
  int add_variable(std::string_view name, files::NumberType type, std::span<const int> dimensions, int deflate = 0);
  void set_text(int variable, std::string_view key, std::string_view value);
  /// Sets numbers of a type: that of _FillValue must be the type of its variable.
  void set_numbers(int variable, std::string_view key, files::NumberType type, std::span<const double> values);

  /// Writes numbers, as they are to be stored, into the box of `extent` at `from`. A number that the variable's type
  /// cannot hold is an Error. T: float, double, std::int16_t, std::int32_t, std::int64_t, std::uint8_t.
  template <class T>
  void write(int variable, Indices from, Indices extent, std::span<const T> values);

  /// Finishes the file and gives it its name.
  void commit();

 private:
  void checked(int status, std::string_view attempt, std::string_view name) const;
  void end_definitions();

  std::filesystem::path path_, temporary_;
  NetcdfKind kind_;
  int id_ = -1;
  bool defining_ = true;
};

}  // namespace isobar::hdf5
