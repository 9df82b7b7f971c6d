// Evaluates a whole model on given numbers: import, plan, run; used by `isobar onnx check --data` and the conformance
// tests. Models that contain training steps (Gradient, Adam, ...) are run with our own optimizers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "isobar/onnx/array.hpp"
#include "isobar/onnx/import.hpp"
#include "isobar/onnx/model.hpp"

namespace isobar::onnx {

/// The outputs of the model, in the model's order. Inputs that determine shapes are treated as constants.
std::vector<Array> evaluate(const OnnxModel& model, const std::map<std::string, Array>& inputs);

/// Like import_model, but finds and fixes the inputs that determine shapes; `options` receives which were fixed.
Imported import_with(const OnnxModel& model, const std::map<std::string, Array>& inputs, ImportOptions& options);

/// The numbers of an input in the graph's order, and those of an output in the file's order.
std::vector<float> to_graph(const Binding& binding, const Array& array);
Array from_graph(const Binding& binding, std::span<const float> values);

/// Whether the model contains ONNX's training operators.
bool has_training_nodes(const OnnxModel& model);
/// Like evaluate, for models with training operators.
std::vector<Array> evaluate_training(const OnnxModel& model, const std::map<std::string, Array>& inputs);

/// The gradient of the sum of `y` with respect to each of `xs`, which are inputs of the model.
std::map<std::string, Array> gradients(const OnnxModel& model, const std::map<std::string, Array>& inputs,
                                       const std::string& y, const std::vector<std::string>& xs);

}  // namespace isobar::onnx
