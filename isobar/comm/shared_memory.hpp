// SharedMemory: memory of several ranks of one node that all of them see. It says nothing about who may touch what and
// when: ranks agree on that through atomic numbers they keep in it.
#pragma once

#include <cstddef>
#include <span>

namespace isobar::comm {

class SharedMemory {
 public:
  /// Gives up this rank's view; the memory goes when the last rank has done so. Never waits for other ranks.
  virtual ~SharedMemory() = default;
  /// The part of a rank: begins at a multiple of 64 bytes, zero at first.
  virtual std::span<std::byte> part(int rank) const = 0;
};

}  // namespace isobar::comm
