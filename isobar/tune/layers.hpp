// The convolutions of a network, as tuning sees them: each with the directions that its plan computes.
#pragma once

#include <string>
#include <vector>

#include "isobar/graph/plan.hpp"
#include "isobar/ops/conv_methods.hpp"

namespace isobar::tune {

struct Layer {
  std::string node;
  ops::ConvCase problem;                     ///< its stored layout is that of the usual forward kernel
  std::vector<ops::Direction> directions{};  ///< those that are computed
};

/// All convolutions, in the order in which they run.
std::vector<Layer> convolutions(const graph::Graph& graph, const graph::PlanOptions& options = {});

}  // namespace isobar::tune
