// The arithmetic of a network as papers count it: two operations per multiply-add of the layers that have weights or
// multiply matrices, forward, from shapes alone. Biases, activations, normalisation and pooling are not counted.
#pragma once

#include "isobar/graph/graph.hpp"

namespace isobar::zoo {

/// Operations of conv, deconv, dense, matmul, attention and lstm nodes in one forward pass.
double arithmetic(const graph::Graph& graph);

}  // namespace isobar::zoo
