#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/graph/lower.hpp"
#include "isobar/graph/plan.hpp"

namespace isobar::graph {
namespace {

// Two branches of convolutions, concatenated and read by two more.
Graph branches(const char* activation) {
  Graph g;
  const ValueId x = g.input("x", {2, 8, 8, 16});
  const ValueId a = g.add(activation, g.add("conv(filters=16, kernel=3)", x, "left"));
  const ValueId b = g.add(activation, g.add("conv(filters=32, kernel=3)", x, "right"));
  const ValueId both = g.add("concat", {a, b}, "both");
  const ValueId c = g.add(activation, g.add("conv(filters=16, kernel=1)", both, "next"));
  const ValueId d = g.add(activation, g.add("conv(filters=16, kernel=1)", both, "last"));
  const ValueId y = g.add("dense(units=3)", g.add("flatten", g.add("add", {c, d})), "fc");
  g.loss(g.add("mse", {y, g.input("y", {2, 3})}, "loss"));
  return g;
}

std::ptrdiff_t steps_called(const Plan& plan, std::string_view kernel) {
  return std::count_if(plan.steps.begin(), plan.steps.end(), [&](const PlanStep& s) { return s.kernel == kernel; });
}

TEST(Gradients, OfBranchesAreReadWhereTheyLie) {
  const Plan plan = make_plan(branches("relu"));
  EXPECT_EQ(steps_called(plan, "slice of gradient"), 0);
  EXPECT_EQ(steps_called(plan, "sum of gradients"), 1);  // of the two readers of the concatenated tensor
  const auto right = std::find_if(plan.steps.begin(), plan.steps.end(), [](const PlanStep& s) {
    return s.name == "right" && s.kernel == "activation gradient";
  });
  ASSERT_NE(right, plan.steps.end());
  ASSERT_EQ(right->reads, 2u);
  EXPECT_EQ(plan.buffers[right->buffers[1]].name, "d both");
  EXPECT_EQ(right->layouts[1].data.offset0, 16);
  EXPECT_EQ(right->layouts[1].data.format_desc.blocking.strides[2], 48);
}

// The gradient kernel of a relu adds the contributions of its readers.
TEST(Gradients, OfSeveralReadersAreAddedWhereTheyAreUsed) {
  Graph g;
  const ValueId a = g.add("relu", g.add("dense(units=8)", g.input("x", {2, 4}), "first"));
  const ValueId b = g.add("dense(units=8)", a, "left"), c = g.add("dense(units=8)", a, "right");
  g.loss(g.add("mse", {g.add("add", {b, c}), g.input("y", {2, 8})}, "loss"));
  const Plan plan = make_plan(g);
  EXPECT_EQ(steps_called(plan, "sum of gradients"), 0);
  const auto relu = std::find_if(plan.steps.begin(), plan.steps.end(),
                                 [](const PlanStep& s) { return s.kernel == "activation gradient"; });
  ASSERT_NE(relu, plan.steps.end());
  EXPECT_EQ(relu->reads, 3u);
}

TEST(Gradients, AreCopiedForKernelsThatNeedThemWhole) {
  const Plan plan = make_plan(branches("tanh"));
  EXPECT_EQ(steps_called(plan, "sum of gradients"), 1);
  EXPECT_EQ(steps_called(plan, "slice of gradient"), 2);
  const Plan bare = make_plan(branches("relu"), {.own_kernels = false});
  EXPECT_EQ(steps_called(bare, "slice of gradient"), 2);
}

}  // namespace
}  // namespace isobar::graph
