#include "isobar/sim/workload.hpp"

#include <gtest/gtest.h>

namespace isobar::sim {
namespace {

Workload workload_made() {
  Workload w{.name = "made", .batch = 2, .flops = 10};
  w.forward = {{1.0, {}}, {0.5, {}}};
  w.backward = {{2.0, {0}}, {0.25, {1}}};
  w.parameters = {{"b.w", 32, true, 0.125}, {"a.w", 16, true, 0.125}, {"a.mean", 16, false, 0}};
  return w;
}

TEST(Workload, AddsUpWhatARankComputes) {
  EXPECT_DOUBLE_EQ(workload_made().compute_seconds(), 4.0);
  EXPECT_EQ(workload_made().gradient_numbers(), 64u);
  EXPECT_EQ(Workload{}.compute_seconds(), 0);
  EXPECT_EQ(Workload{}.gradient_numbers(), 0u);
}

TEST(Workload, IsScaledInAllItsTimesAndInNothingElse) {
  const Workload slow = workload_made().times(3);
  EXPECT_DOUBLE_EQ(slow.compute_seconds(), 12.0);
  EXPECT_DOUBLE_EQ(slow.forward[1].seconds, 1.5);
  EXPECT_DOUBLE_EQ(slow.backward[0].seconds, 6.0);
  EXPECT_DOUBLE_EQ(slow.parameters[0].update_seconds, 0.375);
  EXPECT_EQ(slow.flops, 10);
  EXPECT_EQ(slow.gradient_numbers(), 64u);
  EXPECT_EQ(slow.backward[1].final_parameters, std::vector<int>{1});
}

}  // namespace
}  // namespace isobar::sim
