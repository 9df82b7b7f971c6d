// How many bytes of files a thread has read, to prove what a data set reads: callers take the difference before and
// after a call, which works because samples are read by the thread that asks for them.
#pragma once

#include <cstdint>

namespace isobar::files {

/// Bytes that this thread has read so far through InputFile, and of numbers of HDF5 arrays past the library.
inline std::int64_t& bytes_read_here() {
  static thread_local std::int64_t bytes = 0;
  return bytes;
}

}  // namespace isobar::files
