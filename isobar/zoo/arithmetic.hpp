// The arithmetic of a network as papers count it, from shapes alone: two operations per multiply-add, in the forward
// pass of layers that have weights or multiply matrices. Biases, activations, normalisation and pooling do not count.
#pragma once

#include "isobar/graph/graph.hpp"

namespace isobar::zoo {

/// Operations of conv, deconv, dense, matmul, attention and lstm nodes in one forward pass.
double arithmetic(const graph::Graph& graph);

}  // namespace isobar::zoo
