#include "isobar/graph/plan.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

namespace isobar::graph {
namespace {

Graph small_network() {
  Graph g;
  ValueId h = g.input("x", {2, 8, 8, 8, 4});
  h = g.add("conv(filters=16, kernel=3, padding=same)", h, "conv1");
  h = g.add("leaky_relu(slope=0.3)", h);
  h = g.add("max_pool(window=2)", h);
  h = g.add("conv(filters=16, kernel=3, padding=same)", h, "conv2");
  h = g.add("relu", h);
  h = g.add("flatten", h);
  h = g.add("dense(units=3)", h, "fc");
  g.output("prediction", h);
  const ValueId y = g.input("y", {2, 3});
  g.loss(g.add("mse", {h, y}, "loss"));
  return g;
}

bool has_step(const Plan& plan, const std::string& name, const std::string& kernel) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [&](const PlanStep& s) { return s.name == name && s.kernel == kernel; });
}

TEST(Plan, LeavesOutTheFirstDataGradient) {
  const Plan plan = make_plan(small_network());
  EXPECT_TRUE(has_step(plan, "conv1", "weight gradient"));
  EXPECT_FALSE(has_step(plan, "conv1", "data gradient"));
  EXPECT_TRUE(has_step(plan, "conv2", "data gradient"));
}

TEST(Plan, OrdersParametersAsTheirGradientsBecomeFinal) {
  const Plan plan = make_plan(small_network());
  std::vector<std::string> names;
  for (const PlanParameter& p : plan.parameters) names.push_back(p.name.substr(0, p.name.find('.')));
  EXPECT_EQ(names, (std::vector<std::string>{"fc", "fc", "conv2", "conv2", "conv1", "conv1"}));
  std::vector<ParameterId> finals;
  for (const PlanStep& step : plan.steps)
    finals.insert(finals.end(), step.final_parameters.begin(), step.final_parameters.end());
  EXPECT_TRUE(std::is_sorted(finals.begin(), finals.end()));
  EXPECT_EQ(finals.size(), plan.parameters.size());
}

// Two buffers in the arena that are needed at the same time may share bytes only if one is a view of the other or is
// written over it in place.
TEST(Plan, NeverSharesBytesOfLivingBuffers) {
  const Plan plan = make_plan(small_network());
  const auto root = [&](BufferId b) {
    while (plan.buffers[b].shares_with) b = plan.buffers[b].shares_with;
    return b;
  };
  int pairs = 0;
  for (const BufferId a : plan.buffers.ids()) {
    for (const BufferId b : ids(a + 1, plan.buffers.next())) {
      const Buffer &p = plan.buffers[a], &q = plan.buffers[b];
      if (p.home != Home::arena || q.home != Home::arena || root(a) == root(b)) continue;
      if (p.last < q.first || q.last < p.first || p.bytes == 0 || q.bytes == 0) continue;
      EXPECT_TRUE(p.offset + p.bytes <= q.offset || q.offset + q.bytes <= p.offset) << p.name << " and " << q.name;
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 20);
}

TEST(Plan, SharingMakesTheArenaSmaller) {
  const Plan shared = make_plan(small_network());
  const Plan apart = make_plan(small_network(), {.share_memory = false, .in_place = false});
  EXPECT_LT(shared.arena_bytes * 3 / 2, apart.arena_bytes);
}

TEST(Plan, FingerprintFollowsTheNetwork) {
  EXPECT_EQ(make_plan(small_network()).fingerprint(), make_plan(small_network()).fingerprint());
  Graph g = small_network();
  const auto other = make_plan(g, {.phase = ops::Phase::inference});
  EXPECT_NE(make_plan(g).fingerprint(), other.fingerprint());
}

TEST(Plan, InferenceSkipsWhatNoOutputNeeds) {
  Graph g;
  const ValueId x = g.input("x", {1, 4});
  g.output("prediction", g.add("dense(units=2)", x, "used"));
  g.add("dense(units=2)", x, "unused");
  const Plan plan = make_plan(g, {.phase = ops::Phase::inference});
  EXPECT_FALSE(std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& s) { return s.name == "unused"; }));
}

TEST(Plan, TrainingNeedsALoss) {
  Graph g;
  g.output("prediction", g.add("relu", g.input("x", {1, 4})));
  EXPECT_THROW(make_plan(g), Error);
}

TEST(Plan, TableTellsParametersWorkAndArena) {
  const std::string table = make_plan(small_network()).table();
  for (const char* part : {"conv1", "weight gradient", "parameters", "arena", "fingerprint"})
    EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
}

}  // namespace
}  // namespace isobar::graph
