// The types of HDF5 files: which are numbers, which of those we decode ourselves, and what the others are called.
#pragma once

#include <string>

#include "isobar/files/stored_numbers.hpp"
#include "isobar/hdf5/hdf5_library.hpp"

namespace isobar::hdf5 {

/// A number type; only the library can convert one that is not `plain` (an unusual precision or byte order).
struct Hdf5Number {
  files::Stored stored;
  bool plain = false;
};

/// Enumerations count as the integers they are made of; call it under the lock.
Hdf5Number hdf5_number(Hdf5Id type);

/// The usual name of a type: "int16", "float32, big-endian", "text", "compound of a, b"; call it under the lock.
std::string hdf5_type_name(Hdf5Id type);

}  // namespace isobar::hdf5
