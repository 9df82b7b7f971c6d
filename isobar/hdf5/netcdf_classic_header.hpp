// The header of a classic NetCDF file: CDF-1, CDF-2 (64-bit offsets) and CDF-5 (64-bit sizes), big-endian, everything
// padded to 4 bytes. Variables with the unlimited dimension lie in records, one part of each variable per record.
#pragma once

#include <cstdint>
#include <vector>

#include "isobar/files/input_file.hpp"
#include "isobar/hdf5/netcdf_header.hpp"

namespace isobar::hdf5 {

/// Where a variable lies.
struct ClassicPlace {
  std::int64_t begin = 0;         ///< of its first number
  std::int64_t record_bytes = 0;  ///< from one record to the next; 0 for a variable that lies in one piece
};

/// Reads and checks a header; returns the place of every variable. Each lies inside the file, whatever the header says.
std::vector<ClassicPlace> read_classic_header(const files::InputFile& file, NetcdfHeader& header);

}  // namespace isobar::hdf5
