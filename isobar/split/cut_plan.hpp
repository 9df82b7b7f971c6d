// CutPlan: which values of a network are cut along one axis over the ranks of a replica, which each rank has whole, and
// which rows every node reads. Made from what operators reach; the same on all ranks, before any part is built.
#pragma once

#include <optional>
#include <vector>

#include "isobar/graph/graph.hpp"

namespace isobar::split {

/// The share of rank `rank` of an axis that is dealt out over `ways` ranks: neighbours differ by one row at most.
ops::Interval dealt(std::int64_t extent, int ways, int rank);

struct CutPlan {
  /// How a node is computed.
  struct NodeCut {
    std::optional<ops::Reach> reach{};                ///< none: whole, on every rank
    int axis = -1;                                    ///< of its output that is cut; of a loss, of its first input
    std::vector<std::vector<ops::Interval>> wants{};  ///< by input, by rank: the rows it reads; empty: all of the input
  };
  IdVector<graph::NodeId, NodeCut> nodes;
  IdVector<graph::ValueId, int> axis;         ///< along which a value is cut; -1: every rank has all of it
  IdVector<graph::ValueId, char> is_partial;  ///< values that have to be added up over the ranks
  /// Of each input of the network that no rank reads whole: the rows each rank reads, along `axis`.
  IdVector<graph::ValueId, std::vector<ops::Interval>> read;

  /// Cuts inputs along the axis that is `from_end` axes before the end, and all that can follow.
  CutPlan(const graph::Graph& graph, int ways, int from_end);
  /// The rows of a value that a rank computes.
  ops::Interval rows(const graph::Graph& graph, graph::ValueId value, int rank) const;
  /// Whether anything is cut.
  bool any() const;

  int ways;
};

}  // namespace isobar::split
