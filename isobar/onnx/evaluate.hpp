// Evaluation of a whole model on given numbers: import, plan, run. What `isobar onnx check --data` and the conformance
// tests do. Models that hold steps of training (Gradient, Adam, ...) are run with our own optimizers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/onnx/array.hpp"
#include "isobar/onnx/import.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

/// The outputs of the model in its order. Inputs that decide shapes are taken as constants.
std::vector<Array> evaluate(const OnnxModel& model, const std::map<std::string, Array>& inputs);

/// As import_model, asking for and then fixing the inputs that decide shapes; `options` says which were fixed.
Imported import_with(const OnnxModel& model, const std::map<std::string, Array>& inputs, ImportOptions& options);

/// The numbers of an input as the graph wants them, and those of an output as the file does.
std::vector<float> to_graph(const Binding& binding, const Array& array);
Array from_graph(const Binding& binding, std::span<const float> values);

/// Whether the model holds nodes of ONNX's training operators.
bool has_training_nodes(const OnnxModel& model);
/// As evaluate, for those.
std::vector<Array> evaluate_training(const OnnxModel& model, const std::map<std::string, Array>& inputs);

/// The gradient of the sum of `y` by each of `xs`, which are inputs of the model.
std::map<std::string, Array> gradients(const OnnxModel& model, const std::map<std::string, Array>& inputs,
                                       const std::string& y, const std::vector<std::string>& xs);

}  // namespace isobar::onnx
