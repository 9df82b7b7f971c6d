// The header of a classic NetCDF file: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit sizes), big-endian, everything
// padded to 4 bytes. Variables with the unlimited dimension are stored in records: each record holds one part of each.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/files/input_file.hpp"
#include "isobar/hdf5/netcdf_header.hpp"

namespace isobar::hdf5 {

/// Where a variable is in the file.
struct ClassicPlace {
  std::int64_t begin = 0;         ///< of its first number
  std::int64_t record_bytes = 0;  ///< from one record to the next; 0 for a contiguous variable
};

/// Reads and checks a header; returns the place of every variable, which is guaranteed to be inside the file.
std::vector<ClassicPlace> read_classic_header(const files::InputFile& file, NetcdfHeader& header);

}  // namespace isobar::hdf5
