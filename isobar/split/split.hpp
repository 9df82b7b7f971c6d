// Split: how one model is cut over the ranks of a replica. A pure function, before there are plans, memory or messages,
// so that any number of ranks can be looked at in one process.
#pragma once

#include <map>

#include "isobar/base/row.hpp"
#include "isobar/graph/graph.hpp"
#include "isobar/tensor/box.hpp"

namespace isobar::split {

/// What one rank of a replica computes. Weights are whole on every rank, and their gradients add up over all ranks.
struct ModelPart {
  graph::Graph graph;  ///< its share of the network, messages included
  std::string text;    ///< for people: "whole", "depth 0-63 of 128"
  /// Of every input of a sample that is cut, without the batch axis: the part this rank reads. One that is missing is
  /// read whole.
  std::map<std::string, Box> inputs{};
  /// Likewise of the outputs it computes; the parts of all ranks cover the whole. One that is missing is computed
  /// whole, on every rank of the replica.
  std::map<std::string, Box> outputs{};
  /// What its loss is multiplied by so that the losses of the replica add up to that of the whole: 1 where it is a part
  /// of a sum, 1 / ways where every rank computes all of it.
  double loss_share = 1;
};

class Split {
 public:
  virtual ~Split() = default;
  /// The ranks of a replica.
  virtual int ways() const = 0;
  /// The part of rank `rank`, below ways(); a network that cannot be cut so is a UsageError.
  virtual ModelPart cut(graph::Graph whole, int rank) const = 0;
};

Table<Row<Split>> splits();

}  // namespace isobar::split
