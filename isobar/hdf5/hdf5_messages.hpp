// Messages in the object headers of HDF5 files that release 1.10 of the library trusts too much: the layout of chunks,
// by whose extents it divides, and attributes of variable length, which refer to objects in global heaps by number.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace isobar::hdf5 {

/// What the superblock says about a file: needed to read anything else.
struct Hdf5Widths {
  std::int64_t base = 0;  ///< where addresses count from: the end of the user block
  int lengths = 8;        ///< bytes of a length
  int addresses = 8;      ///< bytes of an address
  std::int64_t file_bytes = 0;
};

/// Looks for the superblock; without one, returns the widths that all files have today.
Hdf5Widths hdf5_widths(int descriptor, std::int64_t file_bytes);

/// An unsigned integer of `width` bytes, lowest byte first; bytes beyond the end count as 0.
std::uint64_t hdf5_number(std::span<const std::uint8_t> bytes, std::size_t at, std::size_t width);

/// A value of variable length: the object with this number in the collection at `address`.
struct Hdf5Reference {
  std::uint64_t address = 0;
  std::uint32_t number = 0;
};

/// Whether one message of an object header is safe for the library: no chunk has an extent of 0, and `sound` accepts
/// every reference.
bool sound_message(std::uint64_t kind, std::span<const std::uint8_t> message,
                   const std::function<bool(Hdf5Reference)>& sound);

/// Whether `sound` accepts the references in a block of a fractal heap, where the attributes of an object with many of
/// them are stored one after another.
bool sound_block(std::span<const std::uint8_t> bytes, const std::function<bool(Hdf5Reference)>& sound);

}  // namespace isobar::hdf5
