// OracleCase: a training graph with fixed inputs and starting weights, for which PyTorch computes loss and gradients: a
// shrunken network of the zoo, or one problem of an operator. Its random numbers have fixed keys, so that the program
// that writes cases for PyTorch and the tests that compare use the same numbers.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isobar/base/random.hpp"
#include "isobar/base/text.hpp"
#include "isobar/exec/executor.hpp"

#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::onnx {

using Inputs = std::map<std::string, std::vector<float>>;

class OracleCase {
 public:
  /// `rows` is the number of rows the loss is averaged over.
  OracleCase(graph::Graph graph, Inputs inputs, std::int64_t rows)
      : graph_(std::move(graph)),
        inputs_(std::move(inputs)),
        store_(graph::make_plan(graph_), 0),
        executor_(graph::make_plan(graph_), store_) {
    for (std::int64_t n = 0; n < rows; ++n) samples_.push_back(n);
    for (const auto& [name, values] : inputs_) executor_.bind(name, values);
  }

  const graph::Graph& graph() const { return graph_; }
  const Inputs& inputs() const { return inputs_; }
  exec::ParamStore& store() { return store_; }
  std::span<const float> output(const std::string& name) const { return executor_.output(name); }

  std::vector<float> plain(int p, std::span<const float> stored) const {
    std::vector<float> values(static_cast<std::size_t>(store_.parameter(p).declared.shape.count()));
    store_.read_plain(p, stored, values);
    return values;
  }

  /// Computes loss and gradients at the current weights.
  double backward() {
    executor_.forward(run());
    const double loss = executor_.output("loss")[0];
    executor_.backward(run());
    return loss;
  }

  exec::Run run() const {
    const auto rows = static_cast<std::int64_t>(samples_.size());
    return {.seed = 1, .samples = samples_, .rows = rows, .total = static_cast<double>(rows)};
  }

 private:
  graph::Graph graph_;
  Inputs inputs_;
  exec::ParamStore store_;
  exec::Executor executor_;
  std::vector<std::int64_t> samples_;
};

// Normalising over a batch of two leaves only signs, and gradients that are only rounding.
inline constexpr std::int64_t oracle_batch = 4;

/// Networks with dropout: PyTorch is given the masks.
inline constexpr zoo::Shrunken with_dropout[] = {
    {"alexnet(size=55, classes=5, scale=0.0625)"},
    {"cosmoflow(size=16, channels=2, width=4, layers=3, dropout=0.5)"},
    {"cosmoflow_sc18(size=16, padding=same, scale=0.125, dropout=0.2)"},
    {"googlenet(size=79, classes=5, scale=0.125)"},
    {"hep(size=16, filters=8, layers=4, dropout=0.5)"},
    {"tiramisu(height=32, width=48, channels=3, filters=8, growth=4, kernel=3, blocks=[2, 1, 2], dropout=0.2)"},
};

/// Every network that is compared: the shrunken networks, then those with dropout.
inline std::vector<zoo::Shrunken> oracle_networks() {
  std::vector<zoo::Shrunken> all(std::begin(zoo::shrunken), std::end(zoo::shrunken));
  all.insert(all.end(), std::begin(with_dropout), std::end(with_dropout));
  return all;
}

/// A network on a batch of the zoo's tests; the caller must set its weights by store().initialize(seed).
inline std::unique_ptr<OracleCase> network_case(const zoo::Shrunken& small) {
  const zoo::Trial trial(small.spec, oracle_batch, small.tokens);
  return std::make_unique<OracleCase>(trial.graph(), Inputs{{"x", trial.x()}, {"y", trial.y()}}, oracle_batch);
}

inline std::vector<float> between(double low, double high, std::int64_t count, const std::string& name) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(low + (high - low) * Random(11, hash_text(name)).uniform(i));
  return values;
}

/// One problem of an operator. Its inputs are parameters, so that they have gradients; it is followed by a mean squared
/// error unless it is a loss itself. Whole numbers and targets are inputs.
inline std::unique_ptr<OracleCase> operator_case(const ops::Problem& problem) {
  graph::Graph graph;
  Inputs inputs;
  const bool is_loss = ops::make_operator(problem.spec)->is_loss(), whole = problem.last.high > problem.last.low;
  std::vector<graph::ValueId> in;
  for (std::size_t i = 0; i < problem.in.size(); ++i) {
    const std::string name = fmt::format("x{}", i);
    const bool last = i + 1 == problem.in.size();
    std::vector<float> values = between(problem.low, problem.high, problem.in[i].count(), name);
    if (last && (whole || is_loss)) {
      const auto range = static_cast<std::uint64_t>(problem.last.high - problem.last.low);
      for (std::size_t k = 0; whole && k < values.size(); ++k)
        values[k] = static_cast<float>(problem.last.low + static_cast<std::int64_t>(Random(12).below(k, range)));
      in.push_back(graph.input(name, problem.in[i]));
      inputs[name] = values;
      continue;
    }
    ops::Parameter parameter{name, problem.in[i]};
    parameter.values = std::make_shared<const std::vector<float>>(std::move(values));
    // After a separate node the parameter is an activation, which kernels may overwrite.
    in.push_back(graph.add("scale(by=1)", graph.parameter(name, parameter), "pass_" + name));
  }
  graph.add(problem.spec, in, "op");
  const std::vector<graph::ValueId> out = graph.nodes().back().out;
  graph::ValueId y = out[0];
  if (out.size() > 1) {
    std::vector<graph::ValueId> rows;
    for (const graph::ValueId id : out)
      rows.push_back(graph.add("reshape(whole=[1, -1])", id, fmt::format("row_{}", rows.size())));
    y = graph.add("concat", rows, "outputs");
  }
  const Shape shape = graph.value(y).shape;
  if (!is_loss) {
    graph.output("y", y);
    inputs["target"] = between(-1, 1, shape.count(), "target");
    y = graph.add("mse", {y, graph.input("target", shape)}, "error");
  }
  graph.loss(y);
  auto made = std::make_unique<OracleCase>(std::move(graph), std::move(inputs), is_loss ? problem.in[0][0] : shape[0]);
  exec::ParamStore& store = made->store();
  store.initialize(1);
  for (int p = 0; p < store.count(); ++p) {  // biases that start at zero would hide their effect
    const graph::PlanParameter& parameter = store.parameter(p);
    if (!parameter.declared.trained || !parameter.name.starts_with("op.")) continue;
    std::vector<float> values = made->plain(p, store.weight(p));
    const std::vector<float> shift = between(-0.5, 0.5, parameter.declared.shape.count(), parameter.name);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += shift[i];
    store.write_plain(p, values, store.weight(p));
  }
  return made;
}

/// The title of a problem in the golden file: its Spec and the shapes of its inputs.
inline std::string problem_title(const ops::Problem& problem) {
  std::string title = problem.spec + " of";
  for (const Shape& shape : problem.in) title += fmt::format(" [{}]", fmt::join(shape.extents(), ", "));
  return title;
}

/// Problems that ONNX cannot express: the exporter must say so.
inline bool inexpressible(const ops::Problem& problem) {
  const Spec spec(problem.spec);
  const bool dilated = spec.name() == "average_pool" && spec.find("dilation");
  const bool blocks = (spec.name() == "depth_to_space" || spec.name() == "space_to_depth") && problem.in[0].rank() != 4;
  return dilated || blocks;
}

}  // namespace isobar::onnx
