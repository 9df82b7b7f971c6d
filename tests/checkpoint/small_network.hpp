// A network small enough for tests: two dense layers from 6 x 6 x 2 numbers to 3.
#pragma once

#include <fmt/format.h>

#include "isobar/base/spec.hpp"
#include "isobar/graph/graph.hpp"

namespace isobar::tests {

struct SmallNetwork {
  std::int64_t hidden = 8;
  double dropout = 0.25;
  bool norm = false;
  Spec loss{"mse"};
};

inline graph::Graph small_network(std::int64_t batch, const SmallNetwork& network = {}) {
  graph::Graph g;
  graph::ValueId h = g.input("x", {batch, 6, 6, 2});
  h = g.add("flatten", h);
  h = g.add(fmt::format("dense(units={})", network.hidden), h, "fc1");
  if (network.norm) h = g.add("batch_norm", h, "norm");
  h = g.add("tanh", h);
  if (network.dropout > 0) h = g.add(fmt::format("dropout(rate={})", network.dropout), h, "drop");
  h = g.add("dense(units=3)", h, "fc2");
  g.output("prediction", h);
  g.loss(g.add(network.loss, {h, g.input("y", {batch, 3})}, "loss"));
  return g;
}

}  // namespace isobar::tests
