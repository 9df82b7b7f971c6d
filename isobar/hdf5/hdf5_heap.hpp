// Global heaps of HDF5 files, where texts of varying length lie, and the references to them, looked at before the
// library looks at them: release 1.10 follows a heap whose objects are broken for ever, and takes any object number
// that a reference names for one the heap has. The driver asks; what is not sound becomes a failed read.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "isobar/hdf5/hdf5_messages.hpp"

namespace isobar::hdf5 {

class Hdf5Heaps {
 public:
  /// The heaps of a file open as `descriptor`, which must outlive this.
  Hdf5Heaps(int descriptor, const Hdf5Widths& widths) : descriptor_(descriptor), widths_(widths) {}

  /// Whether bytes read at `address` are no heap, or one that lies inside the file and whose chain of objects ends
  /// where the heap does. The library calls global heaps raw data, so heaps are known by their first bytes.
  bool sound(std::int64_t address, std::span<const std::uint8_t> bytes);

  /// Whether a reference names an object its heap may have. One to where no heap is passes: the library refuses it.
  bool sound_reference(const Hdf5Reference& reference);

 private:
  bool sound_local(std::span<const std::uint8_t> bytes) const;
  /// The highest number of an object in the heap at an address; -1 when there is no heap, -2 for a broken one.
  std::int64_t highest(std::int64_t address);

  int descriptor_;
  Hdf5Widths widths_;
  std::map<std::int64_t, std::int64_t> highest_;
};

}  // namespace isobar::hdf5
