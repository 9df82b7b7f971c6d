// The network whose checkpoints the fuzzer breaks: small, with running statistics.
#pragma once

#include "isobar/exec/param_store.hpp"

namespace isobar::fuzz {

inline exec::ParamStore small_network() {
  graph::Graph graph;
  graph::ValueId value = graph.input("x", {2, 3});
  value = graph.add("dense(units=2)", value, "fc");
  value = graph.add("batch_norm", value, "norm");
  graph.output("prediction", value);
  graph.loss(graph.add("mse", {value, graph.input("y", {2, 2})}, "loss"));
  return exec::ParamStore(graph::make_plan(graph), 1);
}

}  // namespace isobar::fuzz
