// Hdf5Memory: where the HDF5 library writes a file that never reaches the disk. Only bytes that are written take
// memory: an array that is never filled is a gap.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

#include "isobar/hdf5/hdf5_library.hpp"

namespace isobar::hdf5 {

class Hdf5Memory {
 public:
  /// The next file created with access() is written here, while this object exists; one at a time, under the lock.
  Hdf5Memory();
  ~Hdf5Memory();
  Hdf5Memory(const Hdf5Memory&) = delete;

  /// Access properties for H5Fcreate.
  Hdf5Handle access() const;

  /// The size of the file in bytes.
  std::int64_t size() const { return size_; }
  void set_size(std::int64_t bytes) { size_ = bytes; }
  /// Gaps are read as zeros.
  void read(std::int64_t offset, std::span<std::uint8_t> out) const;
  void write(std::int64_t offset, std::span<const std::uint8_t> bytes);

 private:
  static constexpr std::int64_t page = 4096;
  std::map<std::int64_t, std::array<std::uint8_t, page>> pages_;
  std::int64_t size_ = 0;
};

}  // namespace isobar::hdf5
