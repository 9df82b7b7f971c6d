// What people and programs see of the messages of a plan: known numbers of one layer between two neighbours.
#include "isobar/graph/plan_messages.hpp"

#include <gtest/gtest.h>

namespace isobar::graph {
namespace {

// Rank `rank` of three, each with four rows of twelve, reads one row beyond them on each side that has a neighbour.
Plan plan_of(int rank) {
  const std::int64_t begin = rank == 0 ? 0 : 1, end = rank == 2 ? 0 : 1;
  Graph g;
  const ValueId x = g.add("conv(filters=2, kernel=1)", g.input("x", {1, 4, 3, 2}), "conv1");
  const ValueId halo =
      g.add(fmt::format("halo(circle=replica, rank={}, ranks=3, id=7, axis=1, have=[0, 4, 4, 8, 8, 12], "
                        "want=[0, 5, 3, 9, 7, 12])",
                        rank),
            x, "conv2 halo");
  const ValueId rows = g.add(fmt::format("slice(axes=[1], begin=[{}], end=[{}])", begin, 4 + begin + end - 1), halo);
  g.output("prediction", rows);
  g.loss(g.add("mse", {rows, g.input("y", g.value(rows).shape)}, "loss"));
  return make_plan(g);
}

StepId find_start(const Plan& plan, bool forward) {
  for (const StepId s : plan.steps.ids())
    if (plan.is_forward(s) == forward && plan.steps[s].talk && plan.steps[s].talk->phase == ops::Talk::Phase::start)
      return s;
  return {};
}

TEST(PlanMessages, AStartSaysWhereItsMessagesGo) {
  const Plan middle = plan_of(1), last = plan_of(2);
  EXPECT_EQ(talk_text(middle, find_start(middle, true)), "to 0, 2 of replica, 2 messages, 48 B");
  EXPECT_EQ(talk_text(last, find_start(last, true)), "to 1 of replica, 1 message, 24 B");
  EXPECT_EQ(talk_text(middle, find_start(middle, false)), "to 0, 2 of replica, 2 messages, 48 B");
  EXPECT_EQ(talk_text(middle, StepId(0)), "");
}

TEST(PlanMessages, AFinishSaysWhatItEnds) {
  const Plan plan = plan_of(1);
  int finishes = 0;
  for (const StepId s : plan.steps.ids()) {
    if (!plan.steps[s].talk || plan.steps[s].talk->phase != ops::Talk::Phase::finish) continue;
    ++finishes;
    EXPECT_EQ(talk_text(plan, s), fmt::format("ends step {}", find_start(plan, plan.is_forward(s)).number()));
  }
  EXPECT_EQ(finishes, 2);
}

TEST(PlanMessages, OneThatOnlyListensSaysToWhom) {
  Graph g;
  const ValueId x = g.add("relu", g.input("x", {1, 2, 3}), "relu");
  g.output("prediction", g.add("halo(circle=replica, rank=1, ranks=2, id=0, axis=1, have=[0, 2, 2, 4], "
                               "want=[0, 2, 1, 4])",
                               x, "halo"));
  const Plan plan = make_plan(g, {.phase = ops::Phase::inference});
  EXPECT_EQ(talk_text(plan, find_start(plan, true)), "from 0 of replica");
}

TEST(PlanMessages, TheTableAddsThemUp) {
  const Plan plan = plan_of(1);
  const std::string table = plan.table();
  for (const char* part : {"conv2 halo       start                 to 0, 2 of replica, 2 messages, 48 B\n",
                           "conv2 halo       finish                ends step ",
                           "\n4 messages sent to others of replica in a pass: 48 B forward, 48 B backward\n"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  Graph silent;
  silent.output("prediction", silent.add("relu", silent.input("x", {1, 4})));
  EXPECT_EQ(make_plan(silent, {.phase = ops::Phase::inference}).table().find("messages"), std::string::npos);
}

TEST(PlanMessages, TheyAreListedByNode) {
  const Plan plan = plan_of(0);
  const std::vector<NodeMessages> all = messages_of(plan);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].node, "conv2 halo");
  EXPECT_EQ(all[0].circle, "replica");
  EXPECT_EQ(all[0].partners, std::vector{1});
  EXPECT_EQ(all[0].sent.messages, 2) << "one forward, one backward";
  EXPECT_EQ(all[0].sent.bytes, 48);
  EXPECT_EQ(traffic_of(plan).forward.bytes, 24);
  EXPECT_EQ(bytes_by_receiver(plan_of(1), "replica"), (std::map<int, std::int64_t>{{0, 48}, {2, 48}}));
  EXPECT_TRUE(bytes_by_receiver(plan_of(1), "team").empty());
  EXPECT_EQ(traffic_of(plan).all().messages, 2);
}

}  // namespace
}  // namespace isobar::graph
