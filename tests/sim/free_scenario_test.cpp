// Ranks at their own pace without servers, in simulation: models travel beside what is computed.
#include <gtest/gtest.h>

#include "isobar/sim/simulate.hpp"

#include "tests/sim/made_scenario.hpp"

namespace isobar::sim {
namespace {

using tests::made_scenario;

// 3 MB of weights at 1 GB/s, behind 100 ms of computing: whoever makes an offer does not wait for its answer.
TEST(FreeScenario, NobodyWaitsForAPartner) {
  for (const int ranks : {2, 4, 7}) {
    Scenario scenario = made_scenario(ranks, "gossip(kind=pairwise)");
    scenario.steps = 20;
    const Simulated result = simulate(scenario);
    EXPECT_EQ(result.detail, "flows");
    EXPECT_NEAR(result.step_seconds, 0.1, 0.005) << ranks;
    EXPECT_NEAR(result.exposed_seconds, 0, 1e-9) << ranks;
    EXPECT_LE(result.sent_bytes, 4 * 3.1e6) << ranks;
  }
}

}  // namespace
}  // namespace isobar::sim
