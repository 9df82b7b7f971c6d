// NodeGroup: the ranks of this rank's node, the sums in memory they share, and the lanes between nodes. Every node has
// as many lanes as the smallest node has ranks; a lane owns a slice of every sum and exchanges it with the same lane of
// other nodes. Ranks without a lane only contribute their numbers and get the sum.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isobar/comm/comm.hpp"
#include "isobar/comm/gradient_memory.hpp"
#include "isobar/comm/schedule.hpp"

namespace isobar::comm {

class NodeGroup {
 public:
  /// All ranks of `comm` must call; those of a node share the memory, which must outlive this.
  NodeGroup(Comm& comm, const GradientMemory& memory);

  int lanes() const { return lanes_; }
  /// Whether this rank owns slices.
  bool owns() const { return local_->rank() < lanes_; }
  /// The same lane of all nodes; null for a rank that owns nothing.
  Comm* between() const { return between_.get(); }
  /// The part of a sum that this rank owns.
  Range slice(Range range) const;

  /// Announces that sums with numbers below `count` have been started on this rank.
  void started(std::int64_t count);
  /// Whether all ranks of the node have started the sum.
  bool all_started(std::int64_t number) const;
  /// Sums the slice over the ranks of the node, into this rank's memory.
  void gather(Range slice);
  /// Copies the slice to all ranks of the node and announces it.
  void spread(Range slice, std::int64_t number);
  /// Whether all slices of the sum have been spread.
  bool all_spread(std::int64_t number) const;
  /// The ranks of this node, by their numbers in the whole group, that have not started the sum.
  std::vector<int> missing(std::int64_t number) const;

  /// What this rank has read from and written to other ranks of its node.
  Traffic traffic() const { return {messages_.load(), bytes_.load()}; }

 private:
  struct Flags;
  std::size_t self() const { return static_cast<std::size_t>(local_->rank()); }
  void count(std::size_t floats);

  std::vector<int> ranks_;  // of this node, in the whole group
  int lanes_ = 0;
  std::unique_ptr<Comm> local_, between_;
  std::shared_ptr<SharedMemory> shared_;
  std::vector<Flags*> flags_;
  std::span<float* const> memory_;
  std::atomic<std::int64_t> messages_ = 0, bytes_ = 0;
};

}  // namespace isobar::comm
