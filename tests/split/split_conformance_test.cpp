// What every split must do; known answers of the members.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "isobar/graph/plan.hpp"
#include "isobar/split/split.hpp"

#include "tests/expect_error.hpp"

namespace isobar::split {
namespace {

graph::Graph small_graph() {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {4, 6});
  g.loss(g.add("mse", {g.add("dense(units=3)", x, "out"), g.input("y", {4, 3})}, "loss"));
  return g;
}

graph::Graph image_graph() {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {2, 8, 6, 3});
  const graph::ValueId h = g.add("conv(filters=4, kernel=3, padding=same)", x, "conv");
  const graph::ValueId pooled = g.add("max_pool(window=2)", g.add("relu", h), "pool");
  const graph::ValueId deep = g.add("conv(filters=4, kernel=3, padding=same)", pooled, "deep");
  g.loss(g.add("mse", {g.add("dense(units=3)", g.add("flatten", deep), "out"), g.input("y", {2, 3})}, "loss"));
  return g;
}

// How each member is tried, and on what.
struct Trying {
  const char* split;
  graph::Graph (*graph)();
  friend std::ostream& operator<<(std::ostream& out, const Trying& trying) { return out << trying.split; }
};
const Trying tried[] = {{"none", small_graph}, {"spatial(height=2)", image_graph}};

class EverySplit : public testing::TestWithParam<Trying> {};

TEST_P(EverySplit, GivesEveryRankOfAReplicaAPart) {
  const graph::Graph whole = GetParam().graph();
  const auto split = make(splits(), Spec(GetParam().split), "split");
  ASSERT_GE(split->ways(), 1);
  double share = 0;
  for (int rank = 0; rank < split->ways(); ++rank) {
    const ModelPart part = split->cut(whole, rank);
    EXPECT_FALSE(part.graph.nodes().empty());
    EXPECT_FALSE(part.text.empty());
    EXPECT_EQ(part.graph.parameter_count(), whole.parameter_count());
    share += part.loss_share;
    graph::verify(part.graph);
  }
  EXPECT_TRUE(share == 1 || share == split->ways());
}

TEST_P(EverySplit, IsAFunctionOfTheGraph) {
  const auto split = make(splits(), Spec(GetParam().split), "split");
  for (int rank = 0; rank < split->ways(); ++rank)
    EXPECT_EQ(graph::make_plan(split->cut(GetParam().graph(), rank).graph).fingerprint(),
              graph::make_plan(split->cut(GetParam().graph(), rank).graph).fingerprint());
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EverySplit, testing::ValuesIn(tried),
                         [](const auto& test) { return Spec(test.param.split).name(); });

TEST(EveryMember, IsTried) {
  for (const Row<Split>* row : splits())
    EXPECT_TRUE(std::ranges::any_of(tried, [&](const Trying& each) { return Spec(each.split).name() == row->name; }))
        << row->name;
}

TEST(KnownAnswer, none) {
  const auto split = make(splits(), "none", "split");
  EXPECT_EQ(split->ways(), 1);
  const ModelPart part = split->cut(small_graph(), 0);
  EXPECT_EQ(part.graph.parameter_count(), 6 * 3 + 3);
  EXPECT_EQ(part.text, "whole");
}

std::map<int, std::vector<int>> partners(const graph::Plan& plan) {
  std::map<int, std::vector<int>> by_talk;
  for (const graph::PlanStep& step : plan.steps)
    if (step.talk && step.talk->phase == ops::Talk::Phase::start)
      by_talk[step.talk->number] = ops::partners_of(*step.talk);
  return by_talk;
}

TEST(KnownAnswer, spatial) {
  const auto split = make(splits(), "spatial(height=2)", "split");
  EXPECT_EQ(split->ways(), 2);
  const ModelPart low = split->cut(image_graph(), 0), high = split->cut(image_graph(), 1);
  EXPECT_EQ(low.text, "height 0-3 of 8");
  EXPECT_EQ(high.text, "height 4-7 of 8");
  // The first layer reads its halo from the file; targets are read whole, and the loss is shared.
  EXPECT_EQ(low.inputs.at("x"), (Box{{0, 0, 0}, {5, 6, 3}}));
  EXPECT_EQ(high.inputs.at("x"), (Box{{3, 0, 0}, {5, 6, 3}}));
  EXPECT_EQ(low.inputs.size(), 1u);
  EXPECT_TRUE(low.outputs.empty());
  EXPECT_EQ(low.loss_share, 0.5);
  // Forward: the second layer's halo, one row of 2 samples x 3 x 4 numbers, and all of its result; backward only the
  // halo again, since what follows is computed alike on both ranks.
  const graph::Plan plan = graph::make_plan(low.graph);
  std::vector<std::int64_t> sent;
  for (const graph::PlanStep& step : plan.steps)
    if (step.talk && step.talk->phase == ops::Talk::Phase::start) sent.push_back(ops::traffic_of(*step.talk).bytes);
  EXPECT_EQ(sent, (std::vector<std::int64_t>{2 * 3 * 4 * 4, 2 * 2 * 3 * 4 * 4, 2 * 3 * 4 * 4}));
  EXPECT_EQ(partners(plan), (std::map<int, std::vector<int>>{{0, {1}}, {1, {1}}, {2, {1}}}));
}

TEST(Spatial, RefusesWhatHasNoSuchAxis) {
  const auto split = make(splits(), "spatial(height=2)", "split");
  EXPECT_THROW(split->cut(small_graph(), 0), UsageError);
  EXPECT_THROW(make(splits(), "spatial", "split"), UsageError);
  EXPECT_THROW(make(splits(), "spatial(height=2, width=2)", "split"), UsageError);
  EXPECT_THROW(make(splits(), "spatial(height=0)", "split"), UsageError);
  EXPECT_HAS(tests::error_of([] { make(splits(), "spatial(depht=2)", "split"); }), "did you mean 'depth'?");
}

}  // namespace
}  // namespace isobar::split
