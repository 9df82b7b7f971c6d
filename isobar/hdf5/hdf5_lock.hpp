// The one lock around the HDF5 library, which is not thread-safe: every call to it, or to a library that calls it
// (libnetcdf), is made with this lock held.
#pragma once

#include <mutex>

namespace isobar::hdf5 {

/// Locks the HDF5 library until the result is destroyed; the first call configures the library.
[[nodiscard]] std::unique_lock<std::mutex> lock_hdf5();

}  // namespace isobar::hdf5
