// Messages in the object headers of HDF5 files that release 1.10 of the library believes too much: the layout of
// chunks, by whose extents it divides, and attributes of varying length, which refer to objects of global heaps by
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace isobar::hdf5 {

/// What the superblock says of a file: needed to read anything else.
struct Hdf5Widths {
  std::int64_t base = 0;  ///< where addresses count from: the end of a user block
  int lengths = 8;        ///< bytes of a length
  int addresses = 8;      ///< bytes of an address
  std::int64_t file_bytes = 0;
};

/// Looks for the superblock; without one the widths are those of every file made today.
Hdf5Widths hdf5_widths(int descriptor, std::int64_t file_bytes);

/// A whole number of some bytes, the lowest first; what lies beyond the end counts as 0.
std::uint64_t hdf5_number(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t width);

/// A value of varying length lies in the collection at `address`, as the object with this number.
struct Hdf5Reference {
  std::uint64_t address = 0;
  std::uint32_t number = 0;
};

/// Whether one message of an object header may be given to the library: no chunk has an extent of 0, and `sound` agrees
/// with every reference.
bool sound_message(std::uint64_t kind, std::span<const std::uint8_t> message,
                   const std::function<bool(Hdf5Reference)>& sound);

/// Whether `sound` agrees with the references in a block of a fractal heap, where an object's many attributes lie one
/// after another.
bool sound_block(std::span<const std::uint8_t> bytes, const std::function<bool(Hdf5Reference)>& sound);

}  // namespace isobar::hdf5
