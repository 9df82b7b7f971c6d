// The part of a graph that some of its outputs depend on; for example, a network without its loss needs no targets.
#pragma once

#include <span>
#include <string>

#include "isobar/graph/graph.hpp"

namespace isobar::graph {

/// The graph with only these outputs, without the nodes and inputs they do not depend on; all weights stay, so that a
/// checkpoint of the whole graph fits. An unknown output is an Error that lists the known ones.
Graph reaching(const Graph& graph, std::span<const std::string> outputs);

}  // namespace isobar::graph
