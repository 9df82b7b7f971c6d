#include "isobar/forecast/workload_of_plan.hpp"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "isobar/exec/param_store.hpp"
#include "isobar/sim/side_by_side.hpp"
#include "isobar/zoo/network.hpp"

#include "tests/expect_error.hpp"

namespace isobar::forecast {
namespace {

double passes(const sim::Workload& w) {
  double seconds = 0;
  for (const auto* stretches : {&w.forward, &w.backward})
    for (const sim::Stretch& stretch : *stretches) seconds += stretch.seconds;
  return seconds;
}

TEST(WorkloadOfPlan, TakesItsWorkOverTheRate) {
  const sim::Workload w = workload_of_model("cosmoflow(size=32)", 2, {1e11, 1e10, 2});
  EXPECT_EQ(w.name, "cosmoflow(size=32)");
  EXPECT_EQ(w.batch, 2);
  EXPECT_GT(w.flops, 1e9);
  EXPECT_NEAR(passes(w), w.flops / 1e11, 1e-12);
  EXPECT_EQ(w.sample_bytes, 32 * 32 * 32 * 4 * 4.0);
  EXPECT_EQ(w.forward.size(), 1u) << "nothing is final in a forward pass";
  EXPECT_NEAR(w.compute_seconds() - passes(w), static_cast<double>(w.gradient_numbers()) * 4 * 7 / 1e10, 1e-9);
}

TEST(WorkloadOfPlan, EveryGradientIsFinalOnceAndInOrder) {
  const auto network = zoo::make_network("cosmoflow(size=32)");
  const graph::Plan plan = graph::make_plan(zoo::training_graph(*network, 1));
  const sim::Workload w = workload_of_plan(plan, {1e11, 0});
  EXPECT_EQ(w.gradient_numbers(), exec::ParamStore::gradient_floats(plan));
  std::vector<int> finals;
  for (const sim::Stretch& stretch : w.backward)
    finals.insert(finals.end(), stretch.final_parameters.begin(), stretch.final_parameters.end());
  std::vector<int> all(w.parameters.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(finals, all);
  for (std::size_t s = 0; s + 1 < w.backward.size(); ++s) EXPECT_FALSE(w.backward[s].final_parameters.empty());
  for (const sim::WorkloadParameter& p : w.parameters) EXPECT_EQ(p.update_seconds, 0) << "no memory rate was told";
}

TEST(WorkloadOfPlan, CountsWorkAsAPaperDoes) {
  const sim::Workload own = workload_of_model("hep(size=32, filters=8)", 4, {1e11, 0});
  const sim::Workload told = workload_of_model("hep(size=32, filters=8)", 4, {1e11, 0}, 2e9);
  EXPECT_EQ(told.flops, 8e9);
  EXPECT_NEAR(passes(told), 0.08, 1e-12);
  EXPECT_NEAR(told.backward[0].seconds / passes(told), own.backward[0].seconds / passes(own), 1e-9)
      << "shares stay what they were";
}

TEST(WorkloadOfPlan, KnowsRunningStatistics) {
  const sim::Workload w = workload_of_model("deepcam(height=64, width=96, scale=0.1)", 1, {1e11, 1e10});
  std::size_t untrained = 0;
  for (const sim::WorkloadParameter& p : w.parameters) {
    untrained += p.trained ? 0 : 1;
    EXPECT_EQ(p.update_seconds > 0, p.trained) << p.name;
  }
  EXPECT_GT(untrained, 0u);
  EXPECT_FALSE(w.parameters.back().trained) << "they lie behind the gradients";
}

TEST(WorkloadOfPlan, FullSizeNetworksNeedNoArena) {
  // Its arena would be tens of gigabytes.
  const sim::Workload w = workload_of_model("deeplabv3plus", 2, {13e12, 0});
  EXPECT_NEAR(w.flops / 2, 13.0e12, 0.3e12);
  EXPECT_EQ(w.sample_bytes, 768 * 1152 * 16 * 4.0);
  EXPECT_NEAR(static_cast<double>(w.gradient_numbers()), 43.67e6, 0.2e6) << "and padding";
}

// Each of four ranks of a replica has a quarter of every sample and of the work, and talks with its neighbours.
TEST(WorkloadOfPlan, PartsOfACutNetworkTalk) {
  const RankRate rate{1e11, 1e10, 2};
  const sim::Workload whole = workload_of_model("cosmoflow(size=32)", 2, rate);
  const std::vector<sim::Workload> parts = workloads_of_parts("cosmoflow(size=32)", "spatial(depth=4)", 2, rate);
  ASSERT_EQ(parts.size(), 4u);
  double flops = 0;
  std::vector<const sim::Workload*> all;
  for (const sim::Workload& part : parts) {
    all.push_back(&part);
    flops += part.flops;
    EXPECT_EQ(part.batch, 2);
    EXPECT_EQ(part.gradient_numbers(), whole.gradient_numbers());
    EXPECT_GT(part.sample_bytes, whole.sample_bytes / 4) << "and what the first layer reads of its neighbours' parts";
    EXPECT_LT(part.sample_bytes, whole.sample_bytes / 3);
    std::map<std::pair<std::string, int>, int> open;  // begun, and not yet awaited
    int talks = 0;
    for (const auto* pass : {&part.forward, &part.backward})
      for (const sim::Stretch& stretch : *pass) {
        if (!stretch.talk) continue;
        ++talks;
        open[{stretch.talk->circle, stretch.talk->number}] += stretch.talk->phase == ops::Talk::Phase::start ? 1 : -1;
      }
    EXPECT_GT(talks, 4);
    for (const auto& [talk, left] : open) EXPECT_EQ(left, 0) << talk.second;
  }
  EXPECT_GE(flops, 0.99 * whole.flops);
  EXPECT_LT(flops, 4 * whole.flops);
  const auto sync = make(parallel::strategies(), Spec("sync"), "strategy");
  EXPECT_TRUE(sim::go_together(all, parallel::place(4, *sync, 8))) << "so that rounds can cost thousands of them";
  EXPECT_HAS(tests::error_of([&] { workloads_of_parts("cosmoflow(size=32)", "spatially", 2, rate); }), "spatial");
}

TEST(WorkloadOfPlan, SaysWhatIsWrong) {
  EXPECT_HAS(tests::error_of([] { workload_of_model("cosmoflw", 1, {1e9, 0}); }), "did you mean 'cosmoflow'");
  EXPECT_HAS(tests::error_of([] { workload_of_model("hep", 0, {1e9, 0}); }), "a batch of 0 samples");
  EXPECT_HAS(tests::error_of([] { workload_of_model("hep(size=32)", 1, {0, 0}); }), "sustains 0 FLOP/s");
}

}  // namespace
}  // namespace isobar::forecast
