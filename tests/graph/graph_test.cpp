#include "isobar/graph/graph.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Graph, MakesWeightsAndInfersShapes) {
  Graph g;
  const ValueId x = g.input("x", {2, 8, 8, 3});
  const ValueId y = g.add("conv(filters=4, kernel=3)", x, "stem");
  EXPECT_EQ(g.value(y).shape, (Shape{2, 6, 6, 4}));
  EXPECT_EQ(g.parameter_count(), 4 * 3 * 9 + 4);
  EXPECT_EQ(g.value(g.find("stem.w")).shape, (Shape{4, 3, 3, 3}));
  verify(g);
}

TEST(Graph, SharesAWeightThatIsPassed) {
  Graph g;
  const ValueId x = g.input("x", {2, 5});
  const ValueId a = g.add("dense(units=5, bias=false)", x, "a");
  g.add("dense(units=5, bias=false)", {a, g.find("a.w")}, "b");
  EXPECT_EQ(g.parameter_count(), 25);
}

TEST(Graph, CountsTrainedNumbersOnly) {
  Graph g;
  ops::Parameter frozen{"w", {3, 4}};
  frozen.trained = false;
  g.output("prediction", g.add("dense(units=3)", {g.input("x", {2, 4}), g.parameter("w", frozen)}, "fc"));
  EXPECT_EQ(g.parameter_count(), 3);
  EXPECT_EQ(make_plan(g, {.phase = ops::Phase::inference}).parameter_count(), 3);
}

TEST(Graph, ErrorsNameTheNodeAndBothSides) {
  Graph g;
  const ValueId x = g.input("x", {1, 4, 4, 3});
  const std::string message = error_of([&] { g.add("conv(filters=2, kernel=7)", x, "stem"); });
  EXPECT_EQ(message.find("conv 'stem': "), 0u) << message;
  EXPECT_NE(message.find("1x4x4x3"), std::string::npos) << message;
  EXPECT_NE(error_of([&] { g.add("dense(units=2)", g.input("v", {3}), "fc"); }).find("dense 'fc': "),
            std::string::npos);
  EXPECT_THROW(g.add("cnov(filters=2)", x), UsageError);
  EXPECT_THROW(g.input("x", {1, 2}), Error);
  EXPECT_THROW(g.input("z", {0, 2}), Error);
  EXPECT_NE(error_of([&] { g.find("xx"); }).find("'x'"), std::string::npos);
}

TEST(Graph, CountsInputs) {
  Graph g;
  const ValueId x = g.input("x", {1, 4});
  EXPECT_NE(error_of([&] { g.add("mse", x); }).find("takes 2 inputs"), std::string::npos);
  EXPECT_NE(error_of([&] { g.add("relu", {x, x}); }).find("takes 1 inputs"), std::string::npos);
}

}  // namespace
}  // namespace isobar::graph
