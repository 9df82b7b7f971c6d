// Rehearsal: goes through the steps of a plan without computing, with some results of the forward pass dropped and
// recomputed before backward reads them. Fast enough to run thousands of times while a plan is fitted into memory.
// A recomputed result is kept until its last reader, so that neighbours share the work: where everything between two
// buffers is dropped, it is recomputed as one segment.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "isobar/graph/lower.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {

/// Estimated time of a step, for comparing choices: from its work or from the bytes it moves, whichever takes longer.
double estimated_seconds(const PlanStep& step);

class Rehearsal {
 public:
  /// For each buffer of the lowered plan, whether it is dropped after the forward pass.
  using Dropped = IdVector<BufferId, char>;

  /// The costs and benefits of dropping.
  struct Score {
    double excess = 0;       ///< live bytes above the target, added up over all steps
    std::size_t peak = 0;    ///< the most live bytes at any step
    double seconds = 0;      ///< estimated time of all recomputation
    std::size_t target = 0;  ///< above which excess counts
    bool fits() const { return peak <= target; }
  };

  /// One step of the resulting plan: a lowered step, or one that recomputes something.
  struct Item {
    StepId step;
    bool again;
    std::size_t first_port;  ///< in ports(), reads and then writes
  };

  /// For a plan that is lowered but not laid out; the plan is only read here.
  Rehearsal(const Plan& plan, const Wishes& wishes, const std::map<StepId, Repeat>& repeats, bool in_place);

  /// Buffers that backward reads and that can be recomputed.
  const std::vector<BufferId>& candidates() const { return candidates_; }
  /// Estimated seconds of recomputing one buffer from what its step reads.
  double seconds_of(BufferId buffer) const;

  /// Goes through the steps; items(), ports() and copies() hold the result until the next call.
  Score play(const Dropped& dropped, std::size_t target);
  const std::vector<Item>& items() const { return items_; }
  const std::vector<BufferId>& ports() const { return ports_; }
  /// For each copy, the buffer it is a copy of: copy number c is buffer plan.buffers.size() + c.
  const std::vector<BufferId>& copies() const { return copies_; }

 private:
  // A step with its buffers; `wishes` has for every write the number of the read it may overwrite, or -1.
  struct Move {
    std::vector<BufferId> reads, writes;
    std::vector<int> wishes;
    bool view = false;
    double seconds = 0;
  };
  // What is known of a buffer whichever buffers are dropped.
  struct Fact {
    std::size_t bytes = 0;
    bool arena = false, gradient = false, output = false, read_in_backward = false;
    StepId maker{};  // the forward step that can recompute it
  };
  // Bytes used by one buffer, or by several one after the other.
  struct Storage {
    std::size_t bytes = 0;
    int first = 0, last = -1;  // items
    bool arena = false;
    bool gradient = false;  // has a fixed place that no other buffer takes over
    BufferId root{};        // whose bytes it uses
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
  IdVector<BufferId, Storage> storages_;
  std::vector<std::int64_t> change_;
};

}  // namespace isobar::graph
