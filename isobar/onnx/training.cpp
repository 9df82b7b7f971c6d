// ONNX's preview of training: Gradient differentiates the model that contains it; Adam, Adagrad and Momentum are steps
// of our own optimizers. ONNX's norm_coefficient is their weight decay; norm_coefficient_post shrinks the result.
#include <algorithm>
#include <cmath>

#include "isobar/exec/executor.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/onnx/evaluate.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::onnx {
namespace {

constexpr std::string_view training_domain = "ai.onnx.preview.training";

const Array& given(const std::map<std::string, Array>& values, const std::string& name) {
  const auto found = values.find(name);
  if (found == values.end()) fail("'{}' must be an input of the model", name);
  return found->second;
}

// Name of the optimizer with its arguments, and how many slots it has in ONNX.
struct Update {
  Spec spec;
  std::size_t slots;
};

Update update_of(const OnnxNode& node) {
  const double decay = node.number("norm_coefficient", 0);
  const double epsilon = std::max(node.number("epsilon", 0), 1e-37);  // ONNX allows 0, the optimizers do not
  if (node.op == "Adagrad") return {fmt::format("adagrad(epsilon={}, weight_decay={})", epsilon, decay), 1};
  if (node.op == "Adam")
    return {fmt::format("adam(beta1={}, beta2={}, epsilon={}, form=tf, weight_decay={})", node.number("alpha", 0.9),
                        node.number("beta", 0.999), epsilon, decay),
            2};
  if (node.op != "Momentum") fail("{} '{}' is not supported", node.op, node.name);
  return {fmt::format("sgd(momentum={}, nesterov={}, form=torch, weight_decay={})", node.number("alpha", 0),
                      node.text("mode", "standard") == "nesterov", decay),
          1};
}

// The rate of ONNX's step t, counted from 0, for our step, counted from 1: step 0 of Adam has no bias correction, step
// t of Adagrad decays its rate.
double rate_for(const OnnxNode& node, double rate, double t) {
  if (node.op == "Adagrad") return rate / (1 + t * node.number("decay_factor", 0));
  if (node.op == "Adam" && t == 0)
    return rate * (1 - node.number("alpha", 0.9)) / std::sqrt(1 - node.number("beta", 0.999));
  return rate;
}

// Inputs: rate, step, then n weights, n gradients and n of each slot; outputs: n weights and n of each slot.
void run_update(const OnnxNode& node, std::map<std::string, Array>& values) {
  const Update update = update_of(node);
  const auto rule = make(optim::optimizers(), update.spec, "optimizer");
  const std::size_t n = (node.in.size() - std::min<std::size_t>(2, node.in.size())) / (2 + update.slots);
  if (n == 0 || node.in.size() != 2 + n * (2 + update.slots) || node.out.size() != n * (1 + update.slots))
    fail("{} '{}' has {} inputs and {} outputs", node.op, node.name, node.in.size(), node.out.size());
  const double rate = given(values, node.in[0]).values.at(0), t = given(values, node.in[1]).values.at(0);
  const double post = node.number("norm_coefficient_post", 0), beta = node.number("beta", 1);
  for (std::size_t i = 0; i < n; ++i) {
    const auto floats = [&](std::size_t group) {
      const Array& a = given(values, node.in[2 + group * n + i]);
      return std::vector<float>(a.values.begin(), a.values.end());
    };
    std::vector<float> w = floats(0), g = floats(1);
    std::vector<std::vector<float>> slots;
    for (std::size_t s = 0; s < update.slots; ++s) slots.push_back(floats(2 + s));
    for (const auto* other : {&g, &slots[0]})
      if (other->size() != w.size()) fail("{} '{}': weights, gradients and slots differ in size", node.op, node.name);
    if (node.op == "Momentum" && t > 0 && beta != 1)
      fail("Momentum '{}': beta = {}; only 1 is supported", node.name, beta);
    const std::vector<std::span<float>> spans(slots.begin(), slots.end());
    rule->update(
        w, g, spans,
        {.index = std::max<std::int64_t>(1, static_cast<std::int64_t>(t)), .learning_rate = rate_for(node, rate, t)});
    for (float& v : w) v = static_cast<float>(v * (1 - post));
    const Array& like = given(values, node.in[2 + i]);
    values[node.out[i]] = {like.type, like.dims, {w.begin(), w.end()}};
    for (std::size_t s = 0; s < update.slots; ++s)
      values[node.out[(1 + s) * n + i]] = {like.type, like.dims, {slots[s].begin(), slots[s].end()}};
  }
}

}  // namespace

bool has_training_nodes(const OnnxModel& model) {
  return std::any_of(model.nodes.begin(), model.nodes.end(),
                     [](const OnnxNode& n) { return n.domain == training_domain; });
}

std::map<std::string, Array> gradients(const OnnxModel& model, const std::map<std::string, Array>& inputs,
                                       const std::string& y, const std::vector<std::string>& xs) {
  OnnxModel part = model;
  std::erase_if(part.nodes, [](const OnnxNode& n) { return n.domain == training_domain; });
  part.outputs = {{y}};
  ImportOptions options;
  for (const std::string& x : xs) options.differentiate.insert(x);
  Imported imported = import_with(part, inputs, options);
  const Binding& output = imported.outputs.at(0);
  if (!output.id) fail("'{}' does not depend on what it is differentiated by", y);
  std::vector<int> axes;
  for (int a = 0; a < imported.graph.value(output.id).shape.rank(); ++a) axes.push_back(a);
  const graph::ValueId sum =
      imported.graph.add(fmt::format("reduce(kind=sum, axes=[{}])", fmt::join(axes, ", ")), output.id, "sum of y");
  imported.graph.loss(imported.graph.add("reshape(whole=[1])", sum, "loss"));

  exec::ParamStore store(graph::make_plan(imported.graph), 0);
  store.initialize(0);
  for (const std::string& x : xs) {
    const Array& a = given(inputs, x);
    const int p = store.find(x);
    if (p >= 0) store.write_plain(p, std::vector<float>(a.values.begin(), a.values.end()), store.weight(p));
  }
  exec::Executor executor(graph::make_plan(imported.graph), store);
  std::vector<std::vector<float>> kept;
  for (const Binding& input : imported.inputs) {
    kept.push_back(to_graph(input, given(inputs, input.name)));
    executor.bind(imported.graph.value(input.id).name, kept.back());
  }
  executor.forward({});
  executor.backward({});
  std::map<std::string, Array> result;
  for (const std::string& x : xs) {
    const int p = store.find(x);
    Array a = zeros(Type::float32, given(inputs, x).dims);
    if (p >= 0) {
      std::vector<float> plain(a.values.size());
      store.read_plain(p, store.gradient(p), plain);
      a.values.assign(plain.begin(), plain.end());
    }
    result[x] = std::move(a);
  }
  return result;
}

std::vector<Array> evaluate_training(const OnnxModel& model, const std::map<std::string, Array>& inputs) {
  std::map<std::string, Array> values = inputs;
  for (const auto& [name, stored] : model.initializers) values[name] = stored.array();
  for (const OnnxNode& node : model.nodes) {
    if (node.domain != training_domain) continue;
    if (node.op != "Gradient") {
      run_update(node, values);
      continue;
    }
    const auto xs = node.attributes.find("xs");
    if (xs == node.attributes.end() || xs->second.texts.size() != node.out.size())
      fail("Gradient '{}' needs as many names in xs as it has outputs", node.name);
    const auto slopes = gradients(model, inputs, node.text("y", ""), xs->second.texts);
    for (std::size_t i = 0; i < node.out.size(); ++i) values[node.out[i]] = slopes.at(xs->second.texts[i]);
  }
  // Outputs that do not come from training nodes are computed as usual.
  OnnxModel rest = model;
  std::erase_if(rest.nodes, [](const OnnxNode& n) { return n.domain == training_domain; });
  std::erase_if(rest.outputs, [&](const Interface& o) { return values.contains(o.name); });
  const std::vector<Array> computed = rest.outputs.empty() ? std::vector<Array>{} : evaluate(rest, inputs);
  for (std::size_t i = 0; i < computed.size(); ++i) values[rest.outputs[i].name] = computed[i];
  std::vector<Array> results;
  for (const Interface& output : model.outputs) results.push_back(given(values, output.name));
  return results;
}

}  // namespace isobar::onnx
