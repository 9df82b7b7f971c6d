// Global heaps of HDF5 files, where texts of varying length lie, looked at before the library looks at them: release
// 1.10 follows a heap whose objects are broken for ever. The driver asks; a heap that is not sound is a failed read.
#pragma once

#include <cstdint>
#include <span>

namespace isobar::files {

/// How many bytes lengths have in a file, as its superblock says: 2, 4 or 8.
int hdf5_length_bytes(int descriptor, std::int64_t file_bytes);

/// Whether bytes read at `address` may be given to the library: false for a global heap whose chain of objects leaves
/// it or never ends. Anything else passes; the library calls heaps raw data, so they are known by their first bytes.
bool sound_heap(int descriptor, std::int64_t file_bytes, int length_bytes, std::int64_t address,
                std::span<const std::uint8_t> bytes);

}  // namespace isobar::files
