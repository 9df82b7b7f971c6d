// The types of HDF5 files: which are numbers, which of those we decode ourselves, and what to call the others.
#pragma once

#include <string>

#include "isobar/files/stored_numbers.hpp"
#include "isobar/hdf5/hdf5_library.hpp"

namespace isobar::hdf5 {

/// A type as a number; one that is not `plain` (a precision of its own, a strange order) only the library can convert.
struct Hdf5Number {
  files::Stored stored;
  bool plain = false;
};

/// Enumerations count as the whole numbers they are made of; under the lock.
Hdf5Number hdf5_number(Hdf5Id type);

/// What people call a type: "int16", "float32, big-endian", "text", "compound of a, b"; under the lock.
std::string hdf5_type_name(Hdf5Id type);

}  // namespace isobar::hdf5
