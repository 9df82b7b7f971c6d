// cut_graph: the part of a network that one rank of a replica computes, as a CutPlan has it: operators cut to the rows
// of this rank, and between them operators that talk, where rows of other ranks are read.
#pragma once

#include "isobar/split/cut_plan.hpp"
#include "isobar/split/split.hpp"

namespace isobar::split {

/// Without its text. Ranks of the replica talk in the circle "replica", and all in the same order.
ModelPart cut_graph(const graph::Graph& whole, const CutPlan& plan, int rank);

}  // namespace isobar::split
