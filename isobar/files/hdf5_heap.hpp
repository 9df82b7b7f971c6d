// Global heaps of HDF5 files, where texts of varying length lie, and the references to them, looked at before the
// library looks at them: release 1.10 follows a heap whose objects are broken for ever, and takes any object number
// that a reference names for one the heap has. The driver asks; what is not sound becomes a failed read.
#pragma once

#include <cstdint>
#include <map>
#include <span>

namespace isobar::files {

class Hdf5Heaps {
 public:
  /// The heaps of a file open as `descriptor`, which must outlive this.
  Hdf5Heaps(int descriptor, std::int64_t file_bytes);

  /// Whether bytes read at `address` are no heap, or one that lies inside the file and whose chain of objects ends
  /// where the heap does. The library calls global heaps raw data, so heaps are known by their first bytes.
  bool sound(std::int64_t address, std::span<const std::uint8_t> bytes);

  /// Whether every reference to an object of a global heap among these bytes of metadata names one the heap may have. A
  /// reference is recognised by a type of varying length before it and by the address in it, at which a heap begins.
  bool sound_references(std::span<const std::uint8_t> bytes);

 private:
  bool sound_local(std::span<const std::uint8_t> bytes) const;
  /// The highest number of an object in the heap at an address; -1 when there is no heap, -2 for a broken one.
  std::int64_t highest(std::int64_t address);

  int descriptor_;
  std::int64_t file_bytes_;
  std::int64_t base_ = 0;  // where addresses count from: the end of a user block
  int length_bytes_ = 8;   // of lengths in this file
  bool wide_addresses_ = true;
  std::map<std::int64_t, std::int64_t> highest_;
};

}  // namespace isobar::files
