// The arrays of an HDF5 file, as a list. Files can link groups in circles and hold millions of arrays: a group is
// entered once, and the list has a maximum length.
#pragma once

#include <string>
#include <vector>

#include "isobar/hdf5/hdf5_file.hpp"

namespace isobar::hdf5 {

/// One array of a file.
struct Hdf5Entry {
  std::string name;  ///< its path: "climate/data"
  Shape shape;
  std::string type;      ///< as stored: "float32, chunks of [4, 6], gzip", "text"
  std::string obstacle;  ///< why Hdf5Array cannot read it; empty if it can
};

/// The arrays of a file, sorted by path, at most `most` of them; groups nested deeper than 32 are left out.
std::vector<Hdf5Entry> list_arrays(const Hdf5File& file, std::size_t most = 1000);

}  // namespace isobar::hdf5
