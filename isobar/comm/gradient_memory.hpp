// GradientMemory: memory of one rank in which reducers make sums. Ranks of a node that add directly from each other's
// memory share it; there may be several, and several reducers may sum in one. Numbers that travel without a reducer lie
// in such memory too, so that a simulation need not keep them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "isobar/comm/shared_memory.hpp"

namespace isobar::comm {

class Comm;
struct Group;
struct ReducerOptions;

class GradientMemory {
 public:
  /// Of this rank alone.
  explicit GradientMemory(std::size_t floats);
  /// Of this rank alone, and somebody else's; lives as long as `keeps`.
  explicit GradientMemory(std::span<float> floats, std::shared_ptr<const void> keeps = {})
      : mine_(floats), keeps_(std::move(keeps)) {}
  /// Shared by all ranks of a group on one node. All must call.
  GradientMemory(Comm& node, std::size_t floats);

  /// Begins on a cache line; initially zero, unless it is somebody else's.
  std::span<float> mine() const { return mine_; }
  /// Where that of every rank of the node begins, in the order of ranks; empty: it is not shared.
  std::span<float* const> on_node() const { return on_node_; }

 private:
  std::span<float> mine_;
  std::vector<float*> on_node_;
  std::shared_ptr<const void> keeps_;
};

/// Whether reducers with these options add from the memory of other ranks of the node.
bool shares_memory(const Group& group, const ReducerOptions& options);

/// Makes memory in which a reducer with these options can make sums, of so many floats, as many on all ranks. All ranks
/// must call.
std::unique_ptr<GradientMemory> gradient_memory(Comm& comm, std::size_t floats, const ReducerOptions& options);

/// Makes memory of this rank alone for numbers that it sends and receives itself: a simulated group brings its own.
std::unique_ptr<GradientMemory> message_memory(Comm& comm, std::size_t floats);

}  // namespace isobar::comm
