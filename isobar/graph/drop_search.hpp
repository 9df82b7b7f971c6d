// The choice of what is dropped and made again: starts with nothing and drops, one after the other, the buffer that
// saves most for its time, where saving is what lies above the target, added up over all steps. What turned out not to
// be needed is kept after all.
#pragma once

#include "isobar/graph/rehearsal.hpp"

namespace isobar::graph {

class DropSearch {
 public:
  /// For a plan with so many buffers; the rehearsal is of that plan and outlives the search.
  DropSearch(Rehearsal& rehearsal, std::size_t buffers);

  /// Drops more until the bytes alive fit the target; whether they do. A later target must not be above an earlier.
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
  double free_;  // seconds that count as none
};

}  // namespace isobar::graph
