#include "isobar/tune/layers.hpp"

#include <set>

#include "isobar/graph/pass.hpp"
#include "isobar/tensor/engine.hpp"

namespace isobar::tune {

std::vector<Layer> convolutions(const graph::Graph& graph, const graph::PlanOptions& options) {
  graph::PlanOptions plain_options = options;
  plain_options.tuning = nullptr;
  const graph::Graph better = graph::improve(graph, options.without);
  std::set<std::pair<std::string, std::string>> steps;  // node and kernel
  for (const graph::PlanStep& step : graph::make_plan(graph, plain_options).steps)
    steps.emplace(step.name, step.kernel);
  std::vector<Layer> layers;
  for (const graph::Node& node : better.nodes()) {
    std::vector<ops::Operand> in;
    for (const graph::ValueId id : node.in) in.push_back({better.value(id).shape, Layout(), true});
    auto problem = ops::conv_case(*node.op, in, options.phase);
    if (!problem) continue;
    Layer layer{node.name, std::move(*problem)};
    for (const ops::Direction direction :
         {ops::Direction::forward, ops::Direction::weight_gradient, ops::Direction::data_gradient})
      if (steps.contains({node.name, std::string(direction_name(direction))})) layer.directions.push_back(direction);
    if (layer.directions.empty()) continue;
    const ops::Setting setting{cpu_engine(), options.phase};
    layer.problem.stored = conv_kernels(setting, layer.problem, ops::Direction::forward).front().reads[1].layout;
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace isobar::tune
