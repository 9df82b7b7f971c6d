// Global heaps of HDF5 files, where texts of variable length are stored, and the references to them, checked before the
// library sees them: release 1.10 loops forever in a heap whose objects are broken, and trusts any object number that a
// reference names. The driver calls these checks; if one fails, so does the read.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "isobar/hdf5/hdf5_messages.hpp"

namespace isobar::hdf5 {

class Hdf5Heaps {
 public:
  /// The heaps of a file open as `descriptor`, which must outlive this object.
  Hdf5Heaps(int descriptor, const Hdf5Widths& widths) : descriptor_(descriptor), widths_(widths) {}

  /// Whether bytes read at `address` are not a heap, or are one that lies inside the file and whose chain of objects
  /// ends where the heap does. The library reads global heaps as raw data, so they are recognised by their first bytes.
  bool sound(std::int64_t address, std::span<const std::uint8_t> bytes);

  /// Whether a reference names an object its heap may have. One that points to no heap passes: the library refuses it.
  bool sound_reference(const Hdf5Reference& reference);

 private:
  bool sound_local(std::span<const std::uint8_t> bytes) const;
  /// The highest object number in the heap at an address; -1 if there is no heap, -2 if it is broken.
  std::int64_t highest(std::int64_t address);

  int descriptor_;
  Hdf5Widths widths_;
  std::map<std::int64_t, std::int64_t> highest_;
};

}  // namespace isobar::hdf5
