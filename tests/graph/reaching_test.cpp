#include "isobar/graph/reaching.hpp"

#include <gtest/gtest.h>

#include "isobar/graph/plan.hpp"

#include "tests/expect_error.hpp"

namespace isobar::graph {
namespace {

Graph with_loss_and_side() {
  Graph g;
  const ValueId x = g.input("x", {2, 5});
  const ValueId h = g.add("dense(units=4)", x, "fc1");
  const ValueId side = g.add("dense(units=3)", h, "side");
  const ValueId p = g.add("dense(units=3)", h, "fc2");
  g.output("prediction", p);
  const ValueId y = g.input("y", {2, 3});
  g.loss(g.add("add", std::vector{g.add("mse", {p, y}, "main"), g.add("mse", {side, y}, "other")}, "loss"));
  return g;
}

TEST(Reaching, LeavesWhatThePredictionNeedsAndAllWeights) {
  const Graph whole = with_loss_and_side();
  const std::vector<std::string> wanted{"prediction"};
  const Graph part = reaching(whole, wanted);
  verify(part);
  const Plan plan = make_plan(part, {.phase = ops::Phase::inference});
  ASSERT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.inputs[0].name, "x");
  EXPECT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(part.nodes().size(), 2u);
  EXPECT_EQ(plan.parameters.size(), make_plan(whole).parameters.size()) << "a checkpoint of the whole fits";
}

TEST(Reaching, AllOutputsAreTheWholeGraph) {
  const Graph whole = with_loss_and_side();
  const std::vector<std::string> both{"loss", "prediction"};
  EXPECT_EQ(make_plan(reaching(whole, both)).fingerprint(), make_plan(whole).fingerprint());
}

TEST(Reaching, AnUnknownOutputIsAnsweredWithTheKnown) {
  const std::vector<std::string> wrong{"predictions"};
  EXPECT_TRUE(tests::contains(tests::error_of([&] { reaching(with_loss_and_side(), wrong); }), "prediction"));
}

}  // namespace
}  // namespace isobar::graph
