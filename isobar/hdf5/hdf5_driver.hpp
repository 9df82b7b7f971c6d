// How the HDF5 library reads files here: through our own driver, which reads like the default one, takes no file locks,
// refuses broken heaps (isobar/hdf5/hdf5_heap.hpp), and can report where raw data is instead of reading it. The
// position of a chunk is thus found by the library's own search, in any kind of chunk index; its function for this,
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

/// While a probe exists, raw data is not read: its position is noted here. At most one at a time, under the lock.
class Hdf5Probe {
 public:
  Hdf5Probe();
  ~Hdf5Probe();
  Hdf5Probe(const Hdf5Probe&) = delete;

  std::int64_t offset = -1, bytes = 0;  ///< of the last request, from the beginning of the file
};

}  // namespace isobar::hdf5
