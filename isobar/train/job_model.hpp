// Model: the network of a job, which a graph can be made of for any batch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "isobar/base/spec.hpp"
#include "isobar/graph/graph.hpp"

namespace isobar::train {

/// A network that can be built for any batch: inputs named as the data fields, outputs "prediction" and "loss".
struct Model {
  std::function<graph::Graph(std::int64_t batch)> graph;
  std::vector<std::string> target_names{};
  Spec resolved{}, loss{};  ///< with all defaults, for the record
};

}  // namespace isobar::train
