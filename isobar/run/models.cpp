#include "isobar/run/models.hpp"

#include <algorithm>
#include <array>

#include "isobar/onnx/import.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::run {
namespace {

using graph::Graph;
using graph::ValueId;

// Losses whose target is a class number.
bool takes_classes(const Spec& loss) {
  constexpr std::array<std::string_view, 3> names{"softmax_cross_entropy", "nll", "focal"};
  return std::find(names.begin(), names.end(), loss.name()) != names.end();
}

Shape target_shape(const Shape& prediction, bool classes) {
  if (!classes) return prediction;
  if (prediction.rank() == 2) return {prediction[0], 1};
  return Shape({prediction.extents().begin(), prediction.extents().end() - 1});
}

// The network of a file for one batch size, with a loss after its output if one is named.
Graph with_loss(const onnx::OnnxModel& model, const onnx::ImportOptions& options, const Spec& loss) {
  onnx::Imported imported = onnx::import_model(model, options);
  Graph& graph = imported.graph;
  const onnx::Binding& output = imported.outputs.at(0);
  if (!output.id) fail("output '{}' of the ONNX file does not depend on its inputs", output.name);
  ValueId prediction = output.id;
  // Images in the file's layout have their classes on axis 1; losses expect them last.
  if (!output.channels_last && output.dims.size() >= 4)
    prediction = graph.add(
        fmt::format("transpose(order=[{}])", fmt::join(onnx::to_last(static_cast<int>(output.dims.size())), ", ")),
        prediction, "prediction channels-last");
  graph.output("prediction", prediction);
  if (loss.name().empty()) return std::move(graph);
  const ValueId y = graph.input("y", target_shape(graph.value(prediction).shape, takes_classes(loss)));
  const ValueId value = graph.add(loss, {prediction, y}, "loss");
  if (!graph.nodes().back().op->is_loss()) fail_usage("loss: operator '{}' is not a loss", loss.name());
  graph.loss(value);
  return std::move(graph);
}

bool is_onnx(const Spec& model) { return model.name() == "onnx" || model.find("onnx"); }

std::string file_of(Args& args) { return args.has("onnx") ? args.text("onnx") : args.text("file"); }

train::Model onnx_model(const Spec& spec, const Spec& loss) {
  Args args(spec, "model");
  const std::string file = file_of(args);
  const bool fresh = args.flag("fresh", false);
  const std::string wanted = args.text("output", "");
  const std::vector<std::int64_t> dims = args.integers("dims", {});
  args.finish();
  auto model = std::make_shared<onnx::OnnxModel>(onnx::read_model(file));
  if (model->inputs.empty() || model->outputs.empty()) fail("'{}' needs an input and an output to be used", file);
  if (!wanted.empty()) {
    std::vector<std::string> known;
    for (const auto& o : model->outputs) known.push_back(o.name);
    const auto found = std::find(known.begin(), known.end(), wanted);
    if (found == known.end()) fail_usage("'{}' has no output '{}'{}", file, wanted, suggestion(wanted, known));
    std::swap(model->outputs[0], model->outputs[static_cast<std::size_t>(found - known.begin())]);
  }
  model->outputs.resize(1);
  onnx::ImportOptions options;
  options.fresh = fresh;
  if (model->inputs.size() == 1) options.names[model->inputs[0].name] = "x";
  if (!dims.empty()) {
    options.dims[model->inputs[0].name] = {1};
    options.dims[model->inputs[0].name].insert(options.dims[model->inputs[0].name].end(), dims.begin(), dims.end());
  }
  Spec resolved("onnx", {{"file", Value(file)}, {"fresh", fresh}});
  if (!wanted.empty()) resolved.set("output", Value(wanted));
  if (!dims.empty()) resolved.set("dims", std::vector<Value>(dims.begin(), dims.end()));
  return {[model, options, loss, file](std::int64_t batch) {
            onnx::ImportOptions sized = options;
            sized.batch = batch;
            try {
              return with_loss(*model, sized, loss);
            } catch (const UsageError&) {
              throw;
            } catch (const Error& e) {
              fail("{}: {}", file, e.what());
            }
          },
          {},
          resolved,
          loss};
}

}  // namespace

train::Model make_model(const Spec& model, const Spec& loss) {
  if (is_onnx(model)) {
    Args args(model, "model");
    if (loss.name().empty())
      fail_usage("the ONNX file '{}' has no loss of its own; name one in the recipe: loss = \"softmax_cross_entropy\"",
                 file_of(args));
    return onnx_model(model, loss);
  }
  Spec resolved;
  const std::shared_ptr<const zoo::Network> network = zoo::make_network(model, &resolved);
  const Spec chosen = loss.name().empty() ? network->loss() : loss;
  return {[network, chosen](std::int64_t batch) { return zoo::training_graph(*network, batch, chosen); },
          network->target_names(), resolved, chosen};
}

train::Model model_of(const Spec& recipe) {
  Args args(recipe, "recipe");
  return make_model(args.spec("model"), args.has("loss") ? args.spec("loss") : Spec());
}

train::Job read_job(const Spec& recipe, const std::string& name, datasets::Survey& survey) {
  return train::read_job(recipe, name, model_of(recipe), survey);
}

train::Job read_job(const Spec& recipe, const std::string& name) {
  datasets::Survey survey;
  return read_job(recipe, name, survey);
}

train::Model make_bare_model(const Spec& model, const Spec& loss) {
  return is_onnx(model) ? onnx_model(model, loss) : make_model(model, loss);
}

}  // namespace isobar::run
