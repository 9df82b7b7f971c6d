// Export, write, read, import: the resulting network computes the same. Covers the problems of all operators that are
// not losses, and the forms of files: channels-first images, an open batch, tied weights.
#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/base/random.hpp"
#include "isobar/exec/executor.hpp"
#include "isobar/exec/param_store.hpp"
#include "isobar/onnx/evaluate.hpp"
#include "isobar/onnx/export.hpp"

#include "tests/onnx/oracle_case.hpp"

namespace isobar::ops {
static void PrintTo(const Problem& problem, std::ostream* out) { *out << problem.spec; }
}  // namespace isobar::ops

namespace isobar::onnx {
namespace {

using graph::Graph;

std::vector<float> random_numbers(std::int64_t count, std::uint64_t key, double low, double high) {
  std::vector<float> list;
  for (std::int64_t i = 0; i < count; ++i)
    list.push_back(static_cast<float>(low + (high - low) * Random(3, key).uniform(static_cast<std::uint64_t>(i))));
  return list;
}

// Runs the graph on the given inputs, with the initial weights of the store.
struct Ran {
  explicit Ran(const Graph& graph)
      : plan(graph::make_plan(graph, {.phase = ops::Phase::inference})), store(plan, 0), executor(plan, store) {
    store.initialize(1);
  }
  std::vector<float> weight(const std::string& name) const {
    const int p = store.find(name);
    std::vector<float> list(static_cast<std::size_t>(store.parameter(p).declared.shape.count()));
    store.read_plain(p, store.weight(p), list);
    return list;
  }
  graph::Plan plan;
  exec::ParamStore store;
  exec::Executor executor;
};

// Compares the output of the network after export and import with its direct output.
void expect_same(const Graph& graph, const std::map<std::string, std::vector<float>>& inputs,
                 const std::string& output) {
  Ran ran(graph);
  for (const auto& [name, values] : inputs) ran.executor.bind(name, values);
  ran.executor.forward({});
  const auto span = ran.executor.output(output);
  const std::vector<float> expected(span.begin(), span.end());

  const OnnxModel written = export_graph(graph, {output}, [&](const std::string& name) { return ran.weight(name); });
  const OnnxModel model = parse_model(model_bytes(written), "round trip");
  ImportOptions options;
  for (const auto& [name, values] : inputs) {
    const Shape& shape = graph.value(graph.find(name)).shape;
    const auto found =
        std::find_if(model.inputs.begin(), model.inputs.end(), [&, n = name](const auto& i) { return i.name == n; });
    ASSERT_NE(found, model.inputs.end()) << name;
    Dims dims = found->dims;
    if (dims[0] < 0) dims[0] = shape[0];
    options.dims[name] = dims;
  }
  const Imported imported = import_model(model, options);
  Ran back(imported.graph);
  std::vector<std::vector<float>> kept;
  for (const Binding& input : imported.inputs) {
    // A channels-last value is channels-last again: the same numbers in the same order.
    kept.push_back(inputs.at(input.name));
    EXPECT_EQ(imported.graph.value(input.id).shape, graph.value(graph.find(input.name)).shape);
    back.executor.bind(imported.graph.value(input.id).name, kept.back());
  }
  back.executor.forward({});
  const auto got = back.executor.output(output);
  ASSERT_EQ(got.size(), expected.size());
  double largest = 1;
  for (const float v : expected) largest = std::max(largest, std::abs(static_cast<double>(v)));
  std::vector<float> direct(got.begin(), got.end());
  const Binding& result = imported.outputs.at(0);
  const Shape& shape = graph.value(graph.find(output)).shape;
  // The exporter may have left it channels-first.
  if (imported.graph.value(result.id).shape != shape) direct = turned(direct, result.dims, to_last(shape.rank()));
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(direct[i], expected[i], 1e-5 * largest) << "at " << i;
}

class RoundTrip : public testing::TestWithParam<ops::Problem> {};

TEST_P(RoundTrip, ComputesTheSame) {
  const ops::Problem& problem = GetParam();
  Graph graph;
  std::vector<graph::ValueId> in;
  std::map<std::string, std::vector<float>> inputs;
  for (std::size_t i = 0; i < problem.in.size(); ++i) {
    const std::string name = fmt::format("x{}", i);
    in.push_back(graph.input(name, problem.in[i]));
    const bool whole = problem.last.high > problem.last.low && i + 1 == problem.in.size();
    inputs[name] = whole ? random_numbers(problem.in[i].count(), i, static_cast<double>(problem.last.low),
                                          static_cast<double>(problem.last.high) - 0.01)
                         : random_numbers(problem.in[i].count(), i, problem.low, problem.high);
    if (whole) std::ranges::transform(inputs[name], inputs[name].begin(), [](float v) { return std::floor(v); });
  }
  graph.output("y", graph.add(problem.spec, in, "op"));
  if (inexpressible(problem)) {
    Ran ran(graph);
    EXPECT_THROW(export_graph(graph, {"y"}, [&](const std::string& name) { return ran.weight(name); }), Error);
    return;
  }
  expect_same(graph, inputs, "y");
}

std::vector<ops::Problem> problems() {
  std::vector<ops::Problem> list;
  for (const ops::OperatorRow* row : ops::operators())
    for (const ops::Problem& problem : row->problems)
      if (!ops::make_operator(problem.spec)->is_loss()) list.push_back(problem);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Operators, RoundTrip, testing::ValuesIn(problems()),
                         [](const auto& p) { return fmt::format("{}_{}", Spec(p.param.spec).name(), p.index); });

}  // namespace
}  // namespace isobar::onnx
