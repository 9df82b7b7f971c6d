// Messages begin early and are awaited late: the order of steps of small networks, known by hand.
#include "isobar/graph/hoist.hpp"

#include <gtest/gtest.h>

namespace isobar::graph {
namespace {

// Two convolutions over rows of two ranks, as the first of them computes them.
Graph cut_graph_by_hand() {
  Graph g;
  const ValueId x = g.input("x", {1, 4, 5, 2});
  const ValueId a = g.add("conv(filters=3, kernel=1, bias=false)", x, "a");
  const ValueId h = g.add("halo(ranks=2, axis=1, have=[0, 4, 4, 8], want=[0, 5, 3, 8], id=0)", a, "h");
  const ValueId b = g.add("conv(filters=3, kernel=[2, 1], bias=false)", h, "b");
  const ValueId beside = g.add("conv(filters=3, kernel=1, bias=false)", a, "beside");
  g.loss(g.add("mse", {g.add("add", {b, beside}, "sum"), g.input("y", {1, 4, 5, 3})}, "loss"));
  return g;
}

std::vector<std::string> order_of(const Plan& plan, bool forward) {
  std::vector<std::string> names;
  for (const StepId s : plan.steps.ids())
    if (plan.is_forward(s) == forward) names.push_back(plan.steps[s].name + " " + plan.steps[s].kernel);
  return names;
}

std::ptrdiff_t place(const std::vector<std::string>& names, std::string_view what) {
  const auto found = std::ranges::find_if(names, [&](const std::string& name) { return name.starts_with(what); });
  EXPECT_NE(found, names.end()) << what;
  return found - names.begin();
}

TEST(Hoisting, PutsWorkBetweenStartAndFinish) {
  const std::vector<std::string> forward = order_of(make_plan(cut_graph_by_hand()), true);
  EXPECT_LT(place(forward, "h pack"), place(forward, "h start"));
  EXPECT_LT(place(forward, "h start"), place(forward, "h own rows"));
  EXPECT_LT(place(forward, "h own rows"), place(forward, "h finish"));
  EXPECT_LT(place(forward, "h finish"), place(forward, "h unpack"));
  EXPECT_LT(place(forward, "h unpack"), place(forward, "b "));
}

TEST(Hoisting, LetsMessagesOfTheBackwardPassHideBehindGradientsOfWeights) {
  PlanOptions late;
  late.hoist = false;
  const std::vector<std::string> before = order_of(make_plan(cut_graph_by_hand(), late), false);
  const std::vector<std::string> after = order_of(make_plan(cut_graph_by_hand()), false);
  EXPECT_LT(place(before, "b weight gradient"), place(before, "h start"));
  EXPECT_GT(place(after, "b weight gradient"), place(after, "h start"));
  EXPECT_LT(place(after, "b weight gradient"), place(after, "h finish"));
  EXPECT_EQ(before.size(), after.size());
}

TEST(Hoisting, ChangesNothingWithoutMessages) {
  Graph g;
  g.loss(
      g.add("mse", {g.add("conv(filters=3, kernel=3)", g.input("x", {2, 5, 5, 2}), "a"), g.input("y", {2, 3, 3, 3})}));
  PlanOptions late;
  late.hoist = false;
  EXPECT_EQ(make_plan(g).fingerprint(), make_plan(g, late).fingerprint());
}

TEST(Plan, SaysInWhichCirclesItTalks) {
  EXPECT_EQ(make_plan(cut_graph_by_hand()).circles(), (std::vector<std::string>{"replica"}));
}

TEST(Recomputing, NeverRepeatsAMessage) {
  const Graph g = cut_graph_by_hand();
  PlanOptions tight;
  tight.own_kernels = false;
  const Plan roomy = make_plan(g, tight);
  int tried = 0;
  for (std::size_t limit = roomy.arena_bytes; limit > roomy.arena_bytes / 2; limit -= 64) {
    tight.memory_limit = limit;
    try {
      const Plan plan = make_plan(g, tight);
      if (plan.again_steps() == 0) continue;
      ++tried;
      for (const PlanStep& step : plan.steps) EXPECT_FALSE(step.again && step.talk);
    } catch (const Error&) {
      break;
    }
  }
  EXPECT_GT(tried, 0);
}

}  // namespace
}  // namespace isobar::graph
