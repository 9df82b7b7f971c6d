// SharedMemory: memory that several ranks of one node share. It does not say who may touch what and when: ranks agree
// on that through atomic numbers they keep in it.
#pragma once

#include <cstddef>
#include <span>

namespace isobar::comm {

class SharedMemory {
 public:
  /// Gives up this rank's view; the memory is freed when the last rank has done so. Never waits for other ranks.
  virtual ~SharedMemory() = default;
  /// The part of a rank: begins at a multiple of 64 bytes, initially zero.
  virtual std::span<std::byte> part(int rank) const = 0;
};

}  // namespace isobar::comm
