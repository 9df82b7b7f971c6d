#include "isobar/sim/shared_core.hpp"

#include <gtest/gtest.h>

#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

TEST(SharedCore, IsHalvedUntilAllIsPaid) {
  SharedCore core;
  EXPECT_EQ(core.compute(2), 2);
  core.owe(3);
  EXPECT_EQ(core.compute(2), 4);
  EXPECT_EQ(core.compute(2), 3);
  EXPECT_EQ(core.compute(2), 2);
}

TEST(SharedCore, IsFreeForWhoeverWaits) {
  SharedCore core;
  core.owe(3);
  core.wait(2);
  EXPECT_EQ(core.compute(5), 6);
  core.wait(10);
  EXPECT_EQ(core.compute(1), 1);
}

// Of three gradients of 1 MB the first two are sent while the backward pass goes on, 1.5 MB each on 4 ranks by a ring:
// with 1 ms for a MB it takes 3 ms longer.
TEST(SharedCore, SlowsBothWaysOfSimulating) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = tests::made_scenario(4, "sync(algorithm=ring, bucket_mb=0)");
    scenario.detail = detail;
    const double before = simulate(scenario).step_seconds;
    scenario.platform.network.core_seconds_per_byte = 1e-9;
    EXPECT_NEAR(simulate(scenario).step_seconds - before, 3e-3, 1e-4);
  }
}

TEST(SharedCore, EmulatedNodesTakeTurns) {
  Scenario scenario = tests::made_scenario(3, "sync(algorithm=ring)");
  scenario.detail = Detail::rounds;
  const double own = simulate(scenario).step_seconds;
  scenario.platform.shared_cores = 2;
  EXPECT_NEAR(simulate(scenario).step_seconds, own + 0.1, 1e-3);  // two of the three on one core
}

}  // namespace
}  // namespace isobar::sim
