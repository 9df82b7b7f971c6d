// Export: from a graph to an ONNX model that other runtimes accept. Images are written channels-first, as is usual in
// files, and the axes of everything in between follow. Only what the outputs need is written, so no losses.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isobar/graph/graph.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

/// The numbers of a weight by its name, in plain order.
using WeightReader = std::function<std::vector<float>(const std::string& name)>;

/// Writes what `outputs` (names of the graph's outputs) need, for the newest operator set we know. The batch size stays
/// open unless the graph fixes it.
OnnxModel export_graph(const graph::Graph& graph, const std::vector<std::string>& outputs, const WeightReader& weights);

}  // namespace isobar::onnx
