// Chooses which buffers are dropped and recomputed. The search starts with none and, one after the other, drops the
// buffer that saves most for its time; what counts as saved are bytes above the target, added up over all steps. Drops
// that turn out to be unnecessary are undone.
#pragma once

#include "isobar/graph/rehearsal.hpp"

namespace isobar::graph {

class DropSearch {
 public:
  /// For a plan with `buffers` buffers; the rehearsal is of that plan and must outlive the search.
  DropSearch(Rehearsal& rehearsal, std::size_t buffers);

  /// Drops more buffers until the live bytes fit the target; returns whether they do. Targets must not increase from
  /// call to call.
  bool reach(std::size_t target);
  const Rehearsal::Dropped& dropped() const { return dropped_; }

 private:
  Rehearsal::Score flipped(BufferId buffer, std::size_t target);
  void flip(BufferId buffer, const Rehearsal::Score& score);
  void drop_the_best(std::size_t target);
  bool flip_one(std::size_t target);
  void keep_the_needless(std::size_t target);

  Rehearsal& rehearsal_;
  Rehearsal::Dropped dropped_;
  Rehearsal::Score now_;
  double free_;  // seconds added to those of a drop, which may be 0
};

}  // namespace isobar::graph
