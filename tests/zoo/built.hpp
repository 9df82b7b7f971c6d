// Networks built for tests: the whole training graph of a Spec.
#pragma once

#include "isobar/zoo/network.hpp"

namespace isobar::zoo {

inline graph::Graph built(const Spec& spec, std::int64_t batch = 1) {
  return training_graph(*make_network(spec), batch);
}

/// A name for the test of row `index` of a table of Specs.
inline std::string test_name(std::size_t index, const Spec& spec) {
  return fmt::format("{:02}_{}", index, spec.name());
}

/// Shape of the value of that name.
inline const Shape& shape_of(const graph::Graph& graph, std::string_view name) {
  return graph.value(graph.find(name)).shape;
}

}  // namespace isobar::zoo
