// join_statistics: batch normalisation over the samples of several ranks.
#pragma once

#include "isobar/graph/graph.hpp"
#include "isobar/ops/seat.hpp"

namespace isobar::graph {

/// The same network, in which every batch normalisation counts the samples of all ranks of the seat's circle, whatever
/// circle it was in before. They are numbered from the seat's id.
Graph join_statistics(const Graph& graph, ops::Seat seat);

}  // namespace isobar::graph
