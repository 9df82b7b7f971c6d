// A plan that exchanges messages: those of node "edges", of rank 1 of three of the circle "replica", which sends a
// message of 12 bytes to rank 0 and one to rank 2.
#pragma once

#include "isobar/graph/plan.hpp"

namespace isobar::record {

inline graph::Plan talking_plan() {
  graph::Graph g;
  const graph::ValueId x = g.add("relu", g.input("x", {1, 2, 3}), "relu");
  g.output("prediction", g.add("halo(circle=replica, rank=1, ranks=3, id=0, axis=1, have=[0, 2, 2, 4, 4, 6], "
                               "want=[0, 3, 1, 5, 3, 6])",
                               x, "edges"));
  return graph::make_plan(g, {.phase = ops::Phase::inference});
}

}  // namespace isobar::record
