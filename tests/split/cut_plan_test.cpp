// What is cut, what is whole, and which rows are read, for networks small enough to say so by hand.
#include "isobar/split/cut_plan.hpp"

#include <gtest/gtest.h>

namespace isobar::split {
namespace {

using graph::Graph;
using graph::ValueId;
using ops::Interval;
using Rows = std::vector<Interval>;

TEST(Dealt, RowsFollowEachOtherAndDifferByOneAtMost) {
  EXPECT_EQ(dealt(7, 3, 0), (Interval{0, 3}));
  EXPECT_EQ(dealt(7, 3, 1), (Interval{3, 5}));
  EXPECT_EQ(dealt(7, 3, 2), (Interval{5, 7}));
}

TEST(CutPlan, FollowsWindowsAndGathersWhatIsReadWhole) {
  Graph g;
  const ValueId x = g.input("x", {1, 12, 5, 2});
  const ValueId conv = g.add("conv(filters=3, kernel=3, padding=same)", x, "conv");
  const ValueId pooled = g.add("max_pool(window=2)", conv, "pool");
  const ValueId pooled_mean = g.add("global_pool", pooled, "mean");
  g.loss(g.add("mse", {g.add("dense(units=2)", pooled_mean, "out"), g.input("y", {1, 2})}, "loss"));
  const CutPlan plan(g, 4, 3);
  EXPECT_TRUE(plan.any());
  EXPECT_EQ(plan.read[x], (Rows{{0, 4}, {2, 7}, {5, 10}, {8, 12}}));
  EXPECT_EQ(plan.axis[conv], 1);
  // Six rows over four ranks: 2, 2, 1, 1; the rows of the convolution are 3 each.
  EXPECT_EQ(plan.rows(g, pooled, 1), (Interval{2, 4}));
  EXPECT_EQ(plan.nodes[graph::NodeId(1)].wants[0], (Rows{{0, 4}, {4, 8}, {8, 10}, {10, 12}}));
  EXPECT_EQ(plan.axis[pooled_mean], -1);
  EXPECT_FALSE(plan.nodes[graph::NodeId(2)].reach);
}

TEST(CutPlan, LossesOfPixelsAreCutAndAddedUp) {
  Graph g;
  const ValueId x = g.input("x", {1, 8, 6, 3}), y = g.input("y", {1, 8, 6});
  const ValueId conv = g.add("conv(filters=4, kernel=3, padding=same)", x, "conv");
  const ValueId loss = g.add("softmax_cross_entropy", {conv, y}, "loss");
  g.loss(loss);
  const CutPlan plan(g, 2, 2);  // the width
  EXPECT_EQ(plan.axis[conv], 2);
  EXPECT_EQ(plan.read[y], (Rows{{0, 3}, {3, 6}}));
  EXPECT_TRUE(plan.is_partial[loss]);
}

TEST(CutPlan, CutsNothingThatIsShorterThanTheRanks) {
  Graph g;
  g.loss(g.add("mse",
               {g.add("conv(filters=3, kernel=1)", g.input("x", {1, 3, 5, 2}), "conv"), g.input("y", {1, 3, 5, 3})},
               "loss"));
  EXPECT_FALSE(CutPlan(g, 4, 3).any());
  EXPECT_TRUE(CutPlan(g, 3, 3).any());
}

}  // namespace
}  // namespace isobar::split
