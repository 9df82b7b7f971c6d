// SharedWeights: one set of weights in the memory of a node, which all its ranks read and change without locks. Reading
// takes whatever is there; what a rank adds to a number is never lost, because each number is changed atomically.
#pragma once

#include <memory>
#include <span>

#include "isobar/comm/comm.hpp"

namespace isobar::parallel {

class SharedWeights {
 public:
  /// So many numbers, zero, a part of them in the memory of each rank. All ranks of `node` must call.
  SharedWeights(comm::Comm& node, std::size_t numbers);

  /// Copies numbers from `first` on.
  void read(std::size_t first, std::span<float> to) const;
  void write(std::size_t first, std::span<const float> from);
  /// Changes those that differ: a number that still is what it was becomes what it is now; where others have changed it
  /// meanwhile, the difference is added.
  void change(std::size_t first, std::span<const float> was, std::span<const float> is);

 private:
  // work(begin, count, numbers) for the pieces of a range that lie in the parts of different ranks.
  template <class Work>
  void each_piece(std::size_t first, std::size_t count, Work work) const;

  std::shared_ptr<comm::SharedMemory> memory_;
  std::size_t in_part_;
};

}  // namespace isobar::parallel
