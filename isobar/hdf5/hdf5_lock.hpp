// The one lock around the HDF5 library, which is not thread-safe: whoever calls it, or a library that calls it
// (libnetcdf), holds this lock meanwhile.
#pragma once

#include <mutex>

namespace isobar::hdf5 {

/// Waits for the HDF5 library and keeps it until the lock goes; the first call settles how the library behaves.
[[nodiscard]] std::unique_lock<std::mutex> lock_hdf5();

}  // namespace isobar::hdf5
