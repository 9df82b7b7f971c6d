// Made inputs: numbers on which a network can be trained, derived from its graph: whole numbers where operators expect
// classes, tokens or labels, boxes where they expect boxes, noise elsewhere.
#pragma once

#include <string>
#include <vector>

#include "isobar/graph/graph.hpp"
#include "isobar/tensor/tensor.hpp"

namespace isobar::bench {

/// A tensor for the input of this name; the same `seed` gives the same numbers.
Tensor made_input(const graph::Graph& graph, const std::string& name, std::uint64_t seed = 7);

}  // namespace isobar::bench
