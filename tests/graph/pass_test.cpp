#include "isobar/graph/pass.hpp"

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::graph {
namespace {

Graph conv_act_pool(const char* pool, bool keep_activation) {
  Graph g;
  ValueId h = g.input("x", {1, 8, 8, 4});
  h = g.add("conv(filters=4, kernel=3)", h, "conv");
  h = g.add("leaky_relu(slope=0.1)", h, "act");
  if (keep_activation) g.output("act", h);
  h = g.add(pool, h, "pool");
  g.output("prediction", h);
  return g;
}

std::vector<std::string> kinds(const Graph& g) {
  std::vector<std::string> list;
  for (const Node& n : g.nodes()) list.push_back(n.kind);
  return list;
}

TEST(Passes, MoveTheActivationBehindMaxPoolingAndFuseIt) {
  std::vector<PassReport> report;
  const Graph better = improve(conv_act_pool("max_pool(window=2)", false), {}, &report);
  EXPECT_EQ(kinds(better), (std::vector<std::string>{"conv", "max_pool"}));
  ASSERT_EQ(report.size(), passes().size());
  EXPECT_EQ(report[0].nodes_before, 3u);
}

TEST(Passes, LeaveTheActivationBeforeAveragePooling) {
  EXPECT_EQ(kinds(improve(conv_act_pool("average_pool(window=2)", false), {})),
            (std::vector<std::string>{"conv", "average_pool"}));
}

TEST(Passes, KeepAValueThatIsAnOutput) {
  const Graph better = improve(conv_act_pool("max_pool(window=2)", true), {});
  EXPECT_EQ(better.value(better.find("act")).shape, (Shape{1, 6, 6, 4}));
  EXPECT_EQ(kinds(better), (std::vector<std::string>{"conv", "max_pool"}));
}

TEST(Passes, DoNotFuseWhatTwoRead) {
  Graph g;
  const ValueId x = g.input("x", {1, 4});
  const ValueId h = g.add("dense(units=4)", x, "fc");
  const ValueId a = g.add("relu", h);
  g.output("prediction", g.add("add", {a, h}));
  EXPECT_EQ(kinds(improve(g, {})), (std::vector<std::string>{"dense", "relu", "add"}));
}

TEST(Passes, CanBeSwitchedOffByName) {
  const std::vector<std::string> all{"fuse_pointwise", "pool_before_activation"};
  EXPECT_EQ(improve(conv_act_pool("max_pool(window=2)", false), all).nodes().size(), 3u);
  const std::vector<std::string> wrong{"fuse_pointwize"};
  EXPECT_THROW(improve(conv_act_pool("max_pool(window=2)", false), wrong), UsageError);
}

}  // namespace
}  // namespace isobar::graph
