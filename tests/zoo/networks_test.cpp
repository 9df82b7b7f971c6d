// Every network: parameters, work and shapes as published.
#include <gtest/gtest.h>

#include "isobar/graph/plan.hpp"
#include "isobar/zoo/network.hpp"

namespace isobar::zoo {
namespace {

graph::Graph built(const Spec& spec, std::int64_t batch = 1) {
  const auto network = make_network(spec);
  return training_graph(*network, batch);
}

// Work of all convolutions and dense layers, from shapes alone.
double layer_flops(const graph::Graph& g) {
  double flops = 0;
  for (const graph::Node& node : g.nodes()) {
    if (node.kind != "conv" && node.kind != "dense") continue;
    const Shape& w = g.value(node.in[1]).shape;
    flops += 2.0 * static_cast<double>(g.value(node.out[0]).shape.count()) * static_cast<double>(w.count(1, w.rank()));
  }
  return flops;
}

TEST(CosmoFlow, HasThePublishedSize) {
  const graph::Graph g = built("cosmoflow");
  EXPECT_EQ(g.parameter_count(), 8'907'556);
  EXPECT_NEAR(layer_flops(g) / 1e9, 68.86, 0.02);
  const std::pair<const char*, std::int64_t> layers[] = {{"conv1", 3'488},   {"conv2", 55'360},    {"conv3", 221'312},
                                                         {"conv4", 884'992}, {"conv5", 3'539'456}, {"fc1", 4'194'432},
                                                         {"fc2", 8'256},     {"fc3", 260}};
  for (const auto& [name, count] : layers) {
    const std::string layer = name;
    EXPECT_EQ(g.value(g.find(layer + ".w")).shape.count() + g.value(g.find(layer + ".b")).shape.count(), count) << name;
  }
}

TEST(CosmoFlowSc18, HasThePublishedSize) {
  const graph::Graph g = built("cosmoflow_sc18");
  EXPECT_EQ(g.parameter_count(), 7'041'443);
  EXPECT_NEAR(layer_flops(g) / 1e9, 21.3, 0.1);
  EXPECT_EQ(g.value(g.find("conv7")).shape, (Shape{1, 2, 2, 2, 256}));
}

TEST(CosmoFlowSc18, SmallVolumesKeepTheDenseLayersWithSamePadding) {
  EXPECT_EQ(built("cosmoflow_sc18(size=32, padding=same)").parameter_count(), 7'041'443);
}

TEST(Networks, AreParametricAndRefuseWhatDoesNotFit) {
  EXPECT_EQ(built("cosmoflow(size=32)", 3).value(built("cosmoflow(size=32)", 3).find("prediction")).shape,
            (Shape{3, 4}));
  EXPECT_THROW(make_network("cosmoflow(size=33)"), UsageError);
  EXPECT_THROW(make_network("cosmoflow_sc18(size=64)"), UsageError);
  EXPECT_THROW(make_network("cosmoflow(sise=32)"), UsageError);
  EXPECT_THROW(make_network("cosmofow"), UsageError);
  EXPECT_THROW(training_graph(*make_network("cosmoflow(size=32)"), 1, "relu"), Error);
}

TEST(Networks, AllBuildAndPlanForTrainingAndInference) {
  for (const auto* row : networks()) {
    const std::string small =
        row->name == "cosmoflow_sc18" ? "cosmoflow_sc18(size=16, padding=same)" : std::string(row->name) + "(size=32)";
    const graph::Graph g = built(small, 2);
    EXPECT_GT(graph::make_plan(g).steps.size(), 10u) << row->name;
    EXPECT_GT(graph::make_plan(g, {.phase = ops::Phase::inference}).steps.size(), 5u) << row->name;
  }
}

}  // namespace
}  // namespace isobar::zoo
