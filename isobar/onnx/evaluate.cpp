#include "isobar/onnx/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/exec/executor.hpp"
#include "isobar/exec/param_store.hpp"

namespace isobar::onnx {
namespace {

// Whether the numbers are representable as floats, the type of values of the graph.
bool survives(const Array& a) {
  const double limit = is_floating(a.type) ? std::numeric_limits<float>::max() : 1 << 24;
  return std::all_of(a.values.begin(), a.values.end(),
                     [&](double v) { return !std::isfinite(v) || std::abs(v) <= limit; });
}

}  // namespace

std::vector<float> to_graph(const Binding& binding, const Array& array) {
  if (array.dims != binding.dims)
    fail("input '{}' is {}, the model expects {}", binding.name, dims_text(array.dims), dims_text(binding.dims));
  const std::vector<float> values(array.values.begin(), array.values.end());
  return binding.channels_last ? turned(values, array.dims, to_last(array.rank())) : values;
}

Array from_graph(const Binding& binding, std::span<const float> values) {
  Array a{binding.type, binding.dims};
  for (const float v : values) a.values.push_back(stored_as(binding.type, static_cast<double>(v)));
  if (binding.channels_last) {
    Dims inside;
    for (const std::int64_t axis : to_last(a.rank())) inside.push_back(a.dims[axis]);
    a.values = turned(a.values, inside, to_first(a.rank()));
  }
  return a;
}

Imported import_with(const OnnxModel& model, const std::map<std::string, Array>& inputs, ImportOptions& options) {
  options.may_ask = true;
  for (const auto& [name, array] : inputs) {
    options.dims[name] = array.dims;
    if (!survives(array)) options.bound = inputs;
  }
  while (true) {
    try {
      return import_model(model, options);
    } catch (const NeedsInput& e) {
      const std::size_t before = options.bound.size();
      for (const std::string& name : inputs_behind(model, e.value))
        if (const auto given = inputs.find(name); given != inputs.end()) options.bound[name] = given->second;
      if (options.bound.size() == before) throw;
    }
  }
}

std::vector<Array> evaluate(const OnnxModel& model, const std::map<std::string, Array>& inputs) {
  if (has_training_nodes(model)) return evaluate_training(model, inputs);
  ImportOptions options;
  const Imported imported = import_with(model, inputs, options);
  std::vector<Array> results;
  if (imported.graph.nodes().empty()) {
    for (const Binding& output : imported.outputs) results.push_back(output.constant);
    return results;
  }
  const graph::PlanOptions plan_options{.phase = ops::Phase::inference};
  exec::ParamStore store(graph::make_plan(imported.graph, plan_options), 0);
  store.initialize(0);
  exec::Executor executor(graph::make_plan(imported.graph, plan_options), store);
  std::vector<std::vector<float>> kept;
  for (const Binding& input : imported.inputs) {
    const auto given = inputs.find(input.name);
    if (given == inputs.end()) fail("input '{}' is not given", input.name);
    kept.push_back(to_graph(input, given->second));
    executor.bind(imported.graph.value(input.id).name, kept.back());
  }
  executor.forward({});
  for (const Binding& output : imported.outputs)
    results.push_back(!output.id ? output.constant : from_graph(output, executor.output(output.name)));
  return results;
}

}  // namespace isobar::onnx
