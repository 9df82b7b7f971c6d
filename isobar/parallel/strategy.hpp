// Strategy: how ranks keep their parameters consistent: forward, backward, exchange, update, in this strategy's order.
// Ordinary code over a Replica, so that it runs the same on a real and on a simulated machine.
#pragma once

#include "isobar/base/row.hpp"
#include "isobar/parallel/replica.hpp"

namespace isobar::parallel {

class Strategy {
 public:
  virtual ~Strategy() = default;
  /// One training step; all ranks must call.
  virtual void step(Replica& replica, const Feed& feed, const optim::Step& step) = 0;
  /// Leaves every rank with the final model; all ranks must call.
  virtual void finish(Replica&) {}
};

Table<Row<Strategy>> strategies();

}  // namespace isobar::parallel
