// Every network of the zoo, shrunken: written as ONNX and read back, it predicts the same and has as many parameters.
#include <gtest/gtest.h>

#include "isobar/onnx/evaluate.hpp"
#include "isobar/onnx/export.hpp"

#include "tests/zoo/built.hpp"
#include "tests/zoo/shrunken.hpp"
#include "tests/zoo/trial.hpp"

namespace isobar::onnx {
namespace {

class ZooRoundTrip : public testing::TestWithParam<zoo::Shrunken> {};

std::vector<float> prediction(const graph::Graph& graph, const std::string& input, const std::vector<float>& x,
                              const std::string& output, exec::ParamStore& store) {
  exec::Executor executor(graph::make_plan(graph, {.phase = ops::Phase::inference}), store);
  executor.bind(input, x);
  executor.forward({});
  const auto got = executor.output(output);
  return {got.begin(), got.end()};
}

TEST_P(ZooRoundTrip, PredictsTheSame) {
  const auto network = zoo::make_network(GetParam().spec);
  graph::Graph graph;
  network->build(graph, zoo::shrunken_batch);
  exec::ParamStore store(graph::make_plan(graph, {.phase = ops::Phase::inference}), 0);
  store.initialize(3);
  const zoo::Trial trial(GetParam().spec, zoo::shrunken_batch, GetParam().tokens);
  const std::vector<float> expected = prediction(graph, "x", trial.x(), "prediction", store);

  const OnnxModel written = export_graph(graph, {"prediction"}, [&](const std::string& name) {
    const int p = store.find(name);
    std::vector<float> values(static_cast<std::size_t>(store.parameter(p).declared.shape.count()));
    store.read_plain(p, store.weight(p), values);
    return values;
  });
  const OnnxModel model = parse_model(model_bytes(written), GetParam().spec);
  EXPECT_LT(model.inputs.at(0).dims.at(0), 0) << "the batch stays open";
  const Imported imported = import_model(model, {.batch = zoo::shrunken_batch});
  exec::ParamStore again(graph::make_plan(imported.graph, {.phase = ops::Phase::inference}), 0);
  again.initialize(0);
  const Binding &input = imported.inputs.at(0), &output = imported.outputs.at(0);
  ASSERT_EQ(imported.graph.value(input.id).shape, graph.value(graph.find("x")).shape);
  std::vector<float> got =
      prediction(imported.graph, imported.graph.value(input.id).name, trial.x(), "prediction", again);
  const Shape& shape = graph.value(graph.find("prediction")).shape;
  if (imported.graph.value(output.id).shape != shape) got = turned(got, output.dims, to_last(shape.rank()));
  ASSERT_EQ(got.size(), expected.size());
  double largest = 0;
  for (const float v : expected) largest = std::max(largest, std::abs(double{v}));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], 1e-5 * std::max(1.0, largest));
}

INSTANTIATE_TEST_SUITE_P(Zoo, ZooRoundTrip, testing::ValuesIn(zoo::shrunken),
                         [](const auto& of) { return zoo::test_name(of.index, of.param.spec); });

}  // namespace
}  // namespace isobar::onnx
