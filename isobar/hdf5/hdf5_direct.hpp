// Reading an HDF5 array without the library: no calls to it, no lock, no memory shared between threads.
#pragma once

#include "isobar/hdf5/hdf5_storage.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::hdf5 {

/// Reads the box of `extent`, not empty, at `from`; the storage is of any kind except `library`.
template <class T>
void read_direct(const Hdf5Storage& storage, Indices from, Indices extent, T* out);

}  // namespace isobar::hdf5
