// What the HDF5 library finds in a NetCDF-4 file: its arrays with everything that describes dimensions, not yet
// interpreted. Read once, under the library's lock; links that leave the file and groups inside themselves are not
// followed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "isobar/hdf5/hdf5_file.hpp"
#include "isobar/hdf5/netcdf_header.hpp"

namespace isobar::hdf5 {

struct Netcdf4Object {
  std::string path{};         ///< "forecast/T"
  std::uint64_t address = 0;  ///< of the object in the file; references hold it
  std::string type{};         ///< as in ncdump
  files::Stored stored{};
  std::string storage{};  ///< in words: "chunks of [1, 361, 576], shuffle, gzip"
  std::vector<std::int64_t> extents{};
  std::vector<bool> unlimited{};  ///< one per axis
  std::vector<NetcdfAttribute> attributes{};

  bool is_dimension = false;                                    ///< CLASS = "DIMENSION_SCALE"
  bool is_variable = true;                                      ///< false for a dimension that is not a variable
  std::int64_t dimension_number = -1;                           ///< _Netcdf4Dimid
  std::vector<std::int64_t> coordinates{};                      ///< _Netcdf4Coordinates: numbers of dimensions
  std::vector<std::pair<std::uint64_t, std::int64_t>> users{};  ///< REFERENCE_LIST: arrays by address, and their axes
};

/// The arrays of all groups, in the order they were made where the file knows it, and the attributes of the file.
std::vector<Netcdf4Object> list_netcdf4(const Hdf5File& file, std::vector<NetcdfAttribute>& attributes);

}  // namespace isobar::hdf5
