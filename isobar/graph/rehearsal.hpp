// Rehearsal: the steps of a plan as numbers, gone through with some of what the forward pass made dropped and made
// again before backward reads it. Fast enough to be asked thousands of times while a plan is fitted into memory.
// What is made again is kept from then on until its last reader, so that neighbours share the work: where everything
// between two buffers is dropped, it is made again as one segment.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "isobar/graph/lower.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// Estimated time of a step, for comparing choices: by its work or by the bytes it moves, whatever takes longer.
double estimated_seconds(const PlanStep& step);

class Rehearsal {
 public:
  /// Per buffer of the lowered plan: whether it is dropped after the forward pass.
  using Dropped = IdVector<BufferId, char>;

  /// What dropping costs and gives.
  struct Score {
    double excess = 0;       ///< bytes alive above the target, added up over all steps
    std::size_t peak = 0;    ///< most bytes alive at a step
    double seconds = 0;      ///< of all that is made again, estimated
    std::size_t target = 0;  ///< that excess counts from
    bool fits() const { return peak <= target; }
  };

  /// One step of the plan that follows: of the lowered steps, or of those that make something again.
  struct Item {
    StepId step;
    bool again;
    std::size_t first_port;  ///< in ports(), reads and then writes
  };

  /// Buffers are dropped as a plan says that is lowered but not laid out; it is only read here.
  Rehearsal(const Plan& plan, const Wishes& wishes, const std::map<StepId, Repeat>& repeats, bool in_place);

  /// Buffers that backward reads and that can be made again.
  const std::vector<BufferId>& candidates() const { return candidates_; }
  /// Estimated seconds of making one buffer again from what its step reads.
  double seconds_of(BufferId buffer) const;

  /// Goes through the steps; items(), ports() and copies() tell of it until the next time.
  Score play(const Dropped& dropped, std::size_t target);
  const std::vector<Item>& items() const { return items_; }
  const std::vector<BufferId>& ports() const { return ports_; }
  /// The buffers that copies are of: copy number c is buffer plan.buffers.size() + c.
  const std::vector<BufferId>& copies() const { return copies_; }

 private:
  // A step with the buffers it sees; `wishes` has for every write the number of the read it may overwrite, or -1.
  struct Move {
    std::vector<BufferId> reads, writes;
    std::vector<int> wishes;
    bool view = false;
    double seconds = 0;
  };
  // What is known of a buffer however it is dropped.
  struct Fact {
    std::size_t bytes = 0;
    bool arena = false, gradient = false, output = false, read_in_backward = false;
    StepId maker{};  // the forward step that can make it again
  };
  // Bytes that one buffer or several after each other have.
  struct Storage {
    std::size_t bytes = 0;
    int first = 0, last = -1;  // items
    bool arena = false;
    bool gradient = false;  // has its place, which nobody else takes over
  };

  static Move move_of(const PlanStep& step, const std::vector<BufferId>& wishes);
  bool kept(BufferId buffer) const;
  BufferId present(BufferId buffer);
  void make_again(StepId step);
  void put(const Move& move, StepId step, bool again, const std::vector<BufferId>& reads);
  Score measure(std::size_t target);
  void find_storages();

  IdVector<StepId, Move> moves_, repeats_;
  StepId forward_end_;
  IdVector<BufferId, Fact> facts_;
  std::vector<BufferId> candidates_;
  bool in_place_;

  const Dropped* dropped_ = nullptr;
  std::vector<Item> items_;
  std::vector<BufferId> ports_, copies_;
  IdVector<BufferId, BufferId> current_;
  double seconds_ = 0;
  IdVector<BufferId, BufferId> root_;
  IdVector<BufferId, Storage> storages_;
  std::vector<std::int64_t> change_;
};

}  // namespace isobar::graph
