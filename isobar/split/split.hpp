// Split: how one model is cut over the ranks of a replica. A pure function, before there are plans, memory or messages,
// so that any number of ranks can be looked at in one process.
#pragma once

#include "isobar/base/row.hpp"
#include "isobar/graph/graph.hpp"

namespace isobar::split {

/// What one rank of a replica computes.
struct ModelPart {
  graph::Graph graph;  ///< its share of the network
  std::string text;    ///< of the network, for people: "whole"
};

class Split {
 public:
  virtual ~Split() = default;
  /// The ranks of a replica.
  virtual int ways() const = 0;
  /// The part of rank `rank`, below ways().
  virtual ModelPart cut(graph::Graph whole, int rank) const = 0;
};

Table<Row<Split>> splits();

}  // namespace isobar::split
