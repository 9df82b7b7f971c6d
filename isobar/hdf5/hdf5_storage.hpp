// How an HDF5 array is stored in its file, found out once by the library: where, in which type, in which chunks, with
// which filters. This is enough to read the array without the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "isobar/files/stored_numbers.hpp"
#include "isobar/hdf5/hdf5_chunks.hpp"
#include "isobar/hdf5/hdf5_filters.hpp"
#include "isobar/hdf5/hdf5_library.hpp"
#include "isobar/tensor/box.hpp"
#include "isobar/tensor/shape.hpp"

namespace isobar::hdf5 {

struct Hdf5Storage {
  enum class Kind {
    contiguous,  ///< contiguous in the file, at `offset`; -1: never written
    compact,     ///< so small that it is in the array's header; `held` is a copy
    chunked,     ///< pieces of extents `chunk`, each filtered by `filters`
    library      ///< only the library can read it
  };

  Hdf5Storage() = default;
  Hdf5Storage(const Hdf5Storage&) = delete;
  /// Closes the array, under the lock.
  ~Hdf5Storage();

  std::filesystem::path file{};  ///< as the user named it
  std::string name{};
  Hdf5Handle array{};
  Shape shape{};
  files::Stored stored{};
  std::string type_name{}, chunk_name{};  ///< in words: "int16", "chunks of [4, 6], shuffle, gzip"

  Kind kind = Kind::library;
  int descriptor = -1;  ///< of the file that really holds the array; open as long as `array` is
  std::int64_t file_bytes = 0, offset = -1;
  std::vector<std::byte> held{};
  std::vector<std::byte> fill{};  ///< one number, as stored: the value of what was never written
  IndexArray chunk{std::size_t{0}};
  std::int64_t chunk_bytes = 0;  ///< of a whole chunk, decoded
  std::vector<Hdf5Filter> filters{};
  bool plain_edges = false;  ///< chunks that reach beyond the array were not filtered
  std::unique_ptr<Hdf5Chunks> chunks{};
  std::uint64_t number = 0;  ///< in the cache of chunks

  Indices extents() const { return shape.extents(); }
};

/// Fills in `storage`; `array` was opened from a file that uses our driver and is taken over. An array that does not
/// hold numbers, or uses an unknown filter, is an Error. Call it under the lock; the result may be destroyed without
/// it.
void find_storage(Hdf5Storage& storage);

}  // namespace isobar::hdf5
