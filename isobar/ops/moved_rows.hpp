// MovedRows: every rank of a circle has some rows of an axis and wants some; what it lacks is sent by those that have
// it. Rows that nobody else wants are copied on the spot. The basis of halo and all_gather, in both directions.
#pragma once

#include <vector>

#include "isobar/ops/seat.hpp"

namespace isobar::ops {

struct MovedRows {
  Seat seat;
  int axis;
  std::vector<Interval> from, to;  ///< by rank: the rows it has, and those it wants
  bool adds = false;               ///< what arrives is added to what is there; otherwise it replaces it

  /// The same rows on their way back: gradients of what was wanted, added up where the rows came from.
  MovedRows back() const { return {seat, axis, to, from, true}; }
  /// Whether any rank sends anything.
  bool sends() const;
  /// The kernels that make the wanted rows in `result` from those in `source`, which has this shape, by messages of
  /// that number. Temporaries from `scratch` on are theirs.
  std::vector<Kernel> kernels(Slot source, const Shape& shape, Slot result, int number, int scratch) const;
};

}  // namespace isobar::ops
