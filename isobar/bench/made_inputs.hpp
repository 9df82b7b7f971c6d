// Made inputs: numbers a network can be trained on, from its graph alone: whole numbers where operators expect classes,
// tokens or labels, boxes where one expects boxes, noise elsewhere.
#pragma once

#include <string>
#include <vector>

#include "isobar/graph/graph.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {

/// A tensor for the input of that name, always the same for the same `seed`.
Tensor made_input(const graph::Graph& graph, const std::string& name, std::uint64_t seed = 7);

}  // namespace isobar::bench
