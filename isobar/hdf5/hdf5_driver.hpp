// How the HDF5 library reads files here: through a driver of our own, which reads like its default one, keeps no file
// locks, refuses broken heaps (isobar/hdf5/hdf5_heap.hpp), and can be asked where raw data lies instead of reading it.
// So the place of a chunk is found by the library's own search, in any kind of chunk index: its call for that,
// H5Dget_chunk_info, searches from the beginning every time.
#pragma once

#include <cstdint>
#include <filesystem>

#include "isobar/hdf5/hdf5_library.hpp"

namespace isobar::hdf5 {

/// Access properties for H5Fopen that name this driver.
Hdf5Handle hdf5_reading_access();

/// Opens a file with them, under the lock; `descriptor`, unless it is -1, is that file, open already, and taken over.
Hdf5Id open_hdf5(const std::filesystem::path& path, int descriptor = -1);

/// The descriptor of a file that was opened with them; it lives as long as the file is open.
int hdf5_descriptor(Hdf5Id file);

/// While one lives, raw data is not read: where it lies is noted here. At most one at a time, under the lock.
class Hdf5Probe {
 public:
  Hdf5Probe();
  ~Hdf5Probe();
  Hdf5Probe(const Hdf5Probe&) = delete;

  std::int64_t offset = -1, bytes = 0;  ///< of the last request, from the beginning of the file
};

}  // namespace isobar::hdf5
