// Messages in the object headers of HDF5 files that release 1.10 of the library believes too much: the layout of
// chunks, by whose extents it divides, and attributes of varying length, which refer to objects of global heaps by
// number.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace isobar::files {

/// A value of varying length lies in the collection at `address`, as the object with this number.
struct Hdf5Reference {
  std::uint64_t address = 0;
  std::uint32_t number = 0;
};

/// Whether a piece of an object header may be given to the library: no chunk has an extent of 0, and `sound` agrees
/// with every reference. `bytes` begin with a header of either version, or are its continuation.
bool sound_header(std::span<const std::uint8_t> bytes, const std::function<bool(Hdf5Reference)>& sound);

/// Whether `sound` agrees with the references in a block of a fractal heap, where an object's many attributes lie one
/// after another.
bool sound_block(std::span<const std::uint8_t> bytes, const std::function<bool(Hdf5Reference)>& sound);

}  // namespace isobar::files
