// The exporter knows every operator of the catalogue that is not a loss and talks to nobody, and reports what it cannot
// write.
#include "isobar/onnx/exporter.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::onnx {
namespace {

TEST(Exporter, HasARuleForEveryOperatorThatIsNoLossAndDoesNotTalk) {
  for (const ops::OperatorRow* row : ops::operators()) {
    const bool talks = row->problems.empty();
    const bool loss = !talks && ops::make_operator(row->problems.front().spec)->is_loss();
    EXPECT_EQ(find_export_rule(row->name) != nullptr, !loss && !talks) << row->name;
  }
}

std::vector<float> no_weights(const std::string& name) { fail("no weight '{}' here", name); }

TEST(Exporter, WritesImagesChannelsFirstAndLeavesTheBatchOpen) {
  graph::Graph graph;
  const graph::ValueId x = graph.input("x", {2, 8, 6, 3});
  graph.output("y", graph.add("relu", graph.add("max_pool(window=2)", x, "pool"), "act"));
  const OnnxModel model = export_graph(graph, {"y"}, no_weights);
  EXPECT_EQ(model.inputs.at(0).dims, (Dims{-1, 3, 8, 6}));
  EXPECT_EQ(model.inputs[0].symbols[0], "batch");
  EXPECT_EQ(model.outputs.at(0).dims, (Dims{-1, 3, 4, 3}));
  ASSERT_EQ(model.nodes.size(), 3u);
  EXPECT_EQ(model.nodes[0].op, "MaxPool");
  EXPECT_EQ(model.nodes[1].op, "Relu");
  EXPECT_EQ(model.nodes[2].op, "Identity");
}

TEST(Exporter, FixesTheBatchWhereTheGraphDoes) {
  graph::Graph graph;
  graph.output("y", graph.add("expand(shape=[2, 5, 3])", graph.input("x", {2, 1, 3}), "e"));
  EXPECT_EQ(export_graph(graph, {"y"}, no_weights).inputs.at(0).dims, (Dims{2, 1, 3}));
}

TEST(Exporter, LeavesOutWhatTheOutputsDoNotNeed) {
  graph::Graph graph;
  const graph::ValueId x = graph.input("x", {2, 3}), y = graph.input("target", {2, 3});
  const graph::ValueId p = graph.add("relu", x, "act");
  graph.output("prediction", p);
  graph.loss(graph.add("mse", {p, y}, "loss"));
  const OnnxModel model = export_graph(graph, {"prediction"}, no_weights);
  EXPECT_EQ(model.inputs.size(), 1u);
  EXPECT_THROW(export_graph(graph, {"loss"}, no_weights), Error) << "losses are not written";
  EXPECT_THROW(export_graph(graph, {"nothing"}, no_weights), Error);
}

}  // namespace
}  // namespace isobar::onnx
