// What every split must do; known answers of the members.
#include <gtest/gtest.h>

#include "isobar/split/split.hpp"

namespace isobar::split {
namespace {

graph::Graph small_graph() {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {4, 6});
  g.loss(g.add("mse", {g.add("dense(units=3)", x, "out"), g.input("y", {4, 3})}, "loss"));
  return g;
}

class EverySplit : public testing::TestWithParam<std::string> {};

TEST_P(EverySplit, GivesEveryRankOfAReplicaAPart) {
  const auto split = make(splits(), Spec(GetParam()), "split");
  ASSERT_GE(split->ways(), 1);
  for (int rank = 0; rank < split->ways(); ++rank) {
    const ModelPart part = split->cut(small_graph(), rank);
    EXPECT_FALSE(part.graph.nodes().empty());
    EXPECT_FALSE(part.text.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EverySplit, testing::ValuesIn(names(splits())),
                         [](const auto& test) { return test.param; });

TEST(KnownAnswer, none) {
  const auto split = make(splits(), "none", "split");
  EXPECT_EQ(split->ways(), 1);
  const ModelPart part = split->cut(small_graph(), 0);
  EXPECT_EQ(part.graph.parameter_count(), 6 * 3 + 3);
  EXPECT_EQ(part.text, "whole");
}

}  // namespace
}  // namespace isobar::split
