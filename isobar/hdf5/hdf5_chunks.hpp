// Where the chunks of an HDF5 array are in its file. A chunk is looked up in the library, under its lock, when it is
// first needed, and then remembered: a file with a million chunks opens immediately.
#pragma once

#include <cstdint>
#include <filesystem>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "isobar/hdf5/hdf5_library.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::hdf5 {

/// One chunk as stored in the file.
struct Hdf5Chunk {
  std::int64_t offset = -1;  ///< from the beginning of the file; -1: never written, so all fill value
  std::int64_t bytes = 0;
  std::uint32_t skipped = 0;  ///< bit f: filter f was not applied
};

class Hdf5Chunks {
 public:
  /// `array` was opened in a file that uses our driver and stays open; chunks have extents `chunk`.
  Hdf5Chunks(Hdf5Id array, std::filesystem::path file, std::string name, Indices shape, Indices chunk);

  /// Chunks along each axis.
  Indices grid() const { return grid_; }
  /// Finds chunks by their flat indices in the grid; may be called from many threads at once.
  std::vector<Hdf5Chunk> find(std::span<const std::int64_t> numbers) const;

 private:
  Hdf5Chunk look_up(std::int64_t number) const;

  Hdf5Id array_;
  std::filesystem::path file_;
  std::string name_;
  IndexArray chunk_, grid_;
  mutable std::shared_mutex guard_;
  mutable std::unordered_map<std::int64_t, Hdf5Chunk> known_;
};

}  // namespace isobar::hdf5
