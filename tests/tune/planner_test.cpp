// The planner on small networks: which layers it sees, that its choices fit and compute the same, and that it stops.
// Which method is fastest depends on the machine and is not tested.
#include "isobar/tune/planner.hpp"

#include <set>

#include <gtest/gtest.h>

#include "isobar/ops/conv_pieces.hpp"
#include "isobar/tensor/engine.hpp"
#include "isobar/tune/compare_methods.hpp"

namespace isobar::tune {
namespace {

graph::Graph small(std::int64_t batch) {
  graph::Graph graph;
  const graph::ValueId x = graph.input("x", {batch, 12, 10, 8});
  graph::ValueId v = graph.add("conv(filters=16, kernel=3, padding=same)", x, "first");
  v = graph.add("relu", v, "act");
  v = graph.add("conv(filters=16, kernel=3, padding=same)", v, "second");
  v = graph.add("max_pool(window=2)", v, "pool");
  v = graph.add("conv(filters=4, kernel=1)", v, "third");
  graph.output("prediction", v);
  const graph::ValueId y = graph.input("y", {batch, 6, 5, 4});
  graph.loss(graph.add("mse", {v, y}, "loss"));
  return graph;
}

constexpr TimingCare quick{1, 0.0};

TEST(Layers, AreTheConvolutionsAndTheDirectionsThatRun) {
  const auto layers = convolutions(small(4));
  ASSERT_EQ(layers.size(), 3u);
  EXPECT_EQ(layers[0].node, "first");
  EXPECT_EQ(layers[0].directions, (std::vector{ops::Direction::forward, ops::Direction::weight_gradient}));
  EXPECT_EQ(layers[1].directions.size(), 3u);
  EXPECT_EQ(layers[2].problem.x, (Shape{4, 6, 5, 16}));
}

TEST(Planner, FindsSomethingForEveryDirectionWithinTheWorkspace) {
  TuneOptions options;
  options.workspace = 400'000;
  options.inexact = true;
  options.care = quick;
  Planner planner(options);
  std::vector<Finding> all;
  for (const Layer& layer : convolutions(small(4)))
    for (const Finding& f : planner.tune(layer)) all.push_back(f);
  ASSERT_EQ(all.size(), 8u);
  for (const Finding& f : all) {
    std::int64_t samples = 0;
    for (const ops::Piece& piece : f.chosen.choice.pieces) samples += piece.samples;
    EXPECT_EQ(samples, 4) << f.chosen.node;
    EXPECT_LE(f.workspace, options.workspace) << f.chosen.node;
    EXPECT_GT(f.seconds, 0);
    EXPECT_GT(f.before, 0);
  }
}

TEST(Planner, MethodsThatRoundOtherwiseMustBeAllowed) {
  TuneOptions options;
  options.care = quick;
  Planner planner(options);
  for (const Layer& layer : convolutions(small(2)))
    for (const Finding& f : planner.tune(layer))
      for (const ops::Piece& piece : f.chosen.choice.pieces)
        EXPECT_TRUE(find(ops::conv_methods(), piece.method, "method").exact) << piece.method;
}

TEST(Planner, LayersThatAreAlikeAreMeasuredOnce) {
  TuneOptions options;
  options.care = quick;
  Planner planner(options);
  auto layers = convolutions(small(2));
  planner.tune(layers[1]);
  const int before = planner.measurements();
  EXPECT_GT(before, 3);
  layers[1].node = "its twin";
  const auto findings = planner.tune(layers[1]);
  EXPECT_EQ(findings[0].chosen.node, "its twin");
  EXPECT_LT(planner.measurements() - before, before);  // only copies of weights, if any
}

TEST(Planner, StopsWhenAsked) {
  Planner planner({});
  const std::atomic<bool> stop = true;
  EXPECT_TRUE(planner.tune(convolutions(small(2))[0], &stop).empty());
  EXPECT_EQ(planner.measurements(), 0);
}

TEST(Planner, ItsChoicesAreUsedByThePlan) {
  ops::Tuning tuning;
  tuning.set("second", ops::Direction::weight_gradient, {{{"im2col", 1}, {"im2col", 3}}});
  graph::PlanOptions options;
  options.tuning = std::make_shared<ops::Tuning>(tuning);
  std::set<std::string> kernels;
  for (const graph::PlanStep& step : graph::make_plan(small(4), options).steps)
    if (step.name == "second") kernels.insert(step.kernel);
  EXPECT_TRUE(kernels.contains("weight gradient by im2col 1+3"));
  EXPECT_NE(graph::make_plan(small(4), options).fingerprint(), graph::make_plan(small(4)).fingerprint());
}

TEST(TuningOf, LeavesOutWhatIsUsual) {
  Finding usual{{"a", ops::Direction::forward, {{{"direct", 2}}}}}, other = usual;
  usual.usual = true;
  other.chosen.node = "b";
  const ops::Tuning tuning = tuning_of({usual, other});
  EXPECT_EQ(tuning.find("a", ops::Direction::forward), nullptr);
  ASSERT_NE(tuning.find("b", ops::Direction::forward), nullptr);
}

TEST(Compare, ShowsEveryMethodThatAppliesInEveryDirection) {
  KernelTimer timer(quick);
  const auto figures = compare_methods("conv(filters=16, kernel=3, padding=same)", {2, 9, 9, 16}, timer);
  std::set<std::pair<std::string_view, ops::Direction>> seen;
  int usual = 0;
  for (const MethodFigures& f : figures) {
    seen.emplace(f.method, f.direction);
    usual += f.usual;
    EXPECT_GT(f.seconds, 0) << f.method;
    EXPECT_DOUBLE_EQ(f.flops, 2.0 * 2 * 81 * 16 * 16 * 9);
  }
  EXPECT_EQ(usual, 3);
  for (const auto direction :
       {ops::Direction::forward, ops::Direction::data_gradient, ops::Direction::weight_gradient}) {
    for (const char* method : {"direct", "im2col", "winograd", "winograd2"})
      EXPECT_TRUE(seen.contains({method, direction})) << method;
    EXPECT_FALSE(seen.contains({"fft", direction}));
  }
  for (const MethodFigures& f : figures) {
    const double tiles = 2 * 3 * 3;  // of 4 x 4 results
    EXPECT_DOUBLE_EQ(f.method == "winograd" ? f.work : 2 * tiles * 36 * 16 * 16, 2 * tiles * 36 * 16 * 16);
    EXPECT_GE(f.workspace, f.method == "im2col" ? 2u * 81 * 9 * 16 * 4 : 0u);
  }
  EXPECT_TRUE(compare_methods("relu", {2, 3}, timer).empty());
}

}  // namespace
}  // namespace isobar::tune
