// Messages within the passes of a model that is cut over ranks: what they cost by flows and by rounds, by hand.
#include <gtest/gtest.h>

#include "isobar/sim/flow_talks.hpp"
#include "isobar/sim/simulate.hpp"

#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"
#include "tests/sim/row_of_parts.hpp"

namespace isobar::sim {
namespace {

using Phase = ops::Talk::Phase;

// Rank `rank` of two sends so many numbers to the other and receives as many.
comm::Schedule swap_with_other(int rank, std::size_t numbers) {
  using comm::Move;
  return {{{Move::Kind::send, 1 - rank, {0, numbers}}, {Move::Kind::receive, 1 - rank, {numbers, numbers}}}};
}

// One part of two: 20 ms of forward pass, a swap of so many numbers behind the first `before` of it that is awaited
// at its end; then 40 ms of backward pass with one gradient of 1 MB.
Workload half_of_two(int rank, std::size_t numbers, double before = 0.005) {
  Workload part;
  part.name = "half";
  part.forward = {
      {before,
       {},
       ops::Talk{.phase = Phase::start, .circle = "replica", .rank = rank, .moves = swap_with_other(rank, numbers)}},
      {0.02 - before, {}, ops::Talk{.phase = Phase::finish, .circle = "replica", .rank = rank}}};
  part.backward = {{0.04, {0}}};
  part.parameters = {{"w", 250'000, true, 0}};
  return part;
}

Scenario cut_in_two(int ranks, std::size_t numbers, double before = 0.005) {
  Scenario scenario = tests::made_scenario(ranks);
  scenario.workload = half_of_two(0, numbers, before);
  scenario.further_parts = {half_of_two(1, numbers, before)};
  return scenario;
}

// A ring of `ranks` sums 1 MB when all is computed.
double sum_seconds(int ranks) { return 2 * (ranks - 1) * (2e-6 + 1e6 / ranks / 1e9); }

TEST(Talks, AreHiddenByWhatIsComputedMeanwhile) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = cut_in_two(4, 1'000'000);  // 4 ms, and 15 ms to hide them
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    EXPECT_NEAR(result.step_seconds, 0.06 + sum_seconds(4), 1e-5) << result.detail;
    EXPECT_NEAR(result.talk_seconds, 0, 1e-9);
    EXPECT_NEAR(result.sent_bytes, 4e6 + 1.5e6, 200);
    EXPECT_EQ(result.detail, detail == Detail::flows ? "flows" : "rounds");
  }
}

TEST(Talks, ThatAreLongerHoldTheirRanksUp) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = cut_in_two(4, 5'000'000);  // 20 ms, 15 ms of them hidden
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    EXPECT_NEAR(result.talk_seconds, 0.005 + 2e-6, 1e-6) << result.detail;
    EXPECT_NEAR(result.step_seconds, 0.065 + sum_seconds(4), 2e-5) << result.detail;
  }
}

TEST(Talks, TakeTheirTypeIntoAccount) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = cut_in_two(2, 5'000'000);
    for (Workload* part : {&scenario.workload, &scenario.further_parts[0]})
      part->forward[0].talk->type = part->forward[1].talk->type = ops::Talk::Type::doubles;
    scenario.detail = detail;
    EXPECT_NEAR(simulate(scenario).talk_seconds, 0.025 + 2e-6, 1e-6);
  }
}

// The second half begins to send 10 ms later than the first, and both end 4 ms behind that; the first waits, and then
// both arrive at the sum together but for what the second had to compute longer.
TEST(Talks, AreHeldUpByALateNeighbour) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = cut_in_two(2, 1'000'000, 0.019);
    scenario.further_parts[0].forward[0].seconds += 0.01;
    scenario.detail = detail;
    const Simulated result = simulate(scenario);
    // Behind the start 1 ms is computed, of 4 ms: the first waits 13 ms, the second 3.
    EXPECT_NEAR(result.talk_seconds, (0.013 + 0.003) / 2, 2e-5) << result.detail;
    EXPECT_NEAR(result.step_seconds, 0.029 + 0.004 + 0.04 + sum_seconds(2), 2e-5) << result.detail;
    EXPECT_NEAR(result.compute_seconds, 0.07, 1e-9) << "of the part that has most to do";
  }
}

// Two of a node share its link within, which is ten times as fast; on nodes of one rank all have their own.
TEST(Talks, OfAllReplicasMeetOnLinks) {
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    Scenario scenario = cut_in_two(4, 5'000'000);
    scenario.platform.node.ranks = 2;
    scenario.detail = detail;
    const double inside = simulate(scenario).talk_seconds;
    EXPECT_NEAR(inside, 0, 1e-6) << "2 x 20 MB at 10 GB/s take 4 ms";
    scenario.workload.forward[0].seconds = scenario.further_parts[0].forward[0].seconds = 0.018;
    scenario.workload.forward[1].seconds = scenario.further_parts[0].forward[1].seconds = 0.002;
    EXPECT_NEAR(simulate(scenario).talk_seconds, 0.002, 1e-4);
  }
}

Scenario in_a_row(int parts, int ranks, std::size_t numbers) {
  Scenario scenario = tests::made_scenario(ranks);
  scenario.further_parts = tests::row_of_parts(parts, numbers);
  scenario.workload = scenario.further_parts[0];
  scenario.further_parts.erase(scenario.further_parts.begin());
  return scenario;
}

// Parts at the ends have one talk, those in the middle two: of 2 ms each, or 4 while both share a link, hidden by 10.
TEST(Talks, OfEndsAndMiddlesGoByRoundsToo) {
  for (const int ranks : {8, 16, 32})
    for (const double sigma : {0.0, 0.1}) {
      Scenario scenario = in_a_row(4, ranks, 500'000);
      scenario.platform.noise.sigma = sigma;
      scenario.steps = 12;
      scenario.detail = Detail::flows;
      const Simulated flows = simulate(scenario);
      scenario.detail = Detail::rounds;
      const Simulated rounds = simulate(scenario);
      EXPECT_EQ(rounds.detail, "rounds");
      if (sigma == 0) {
        EXPECT_NEAR(rounds.step_seconds, 2 * 0.022 + 0.001 + sum_seconds(ranks), 1e-5) << ranks;
        EXPECT_NEAR(rounds.talk_seconds, 0, 1e-9);
      }
      EXPECT_NEAR(rounds.step_seconds / flows.step_seconds, 1, 0.01) << ranks << " ranks, noise " << sigma;
      EXPECT_NEAR(rounds.talk_seconds, flows.talk_seconds, 4e-4) << ranks << " ranks, noise " << sigma;
      EXPECT_NEAR(rounds.sent_bytes / flows.sent_bytes, 1, 1e-3);
      EXPECT_NEAR(rounds.sent_messages / flows.sent_messages, 1, 1e-3);
    }
}

// Two talks of 20 ms that a rank has under way at once take 40 by flows. Rounds let them pass each other, and are too
// quick by as many talks as there are at once, and no more. The ends wait for the middle for another 2 ms.
TEST(Talks, AtOnceDoNotShareLinksByRounds) {
  Scenario scenario = in_a_row(4, 8, 5'000'000);
  scenario.detail = Detail::flows;
  const double flows = simulate(scenario).talk_seconds;
  scenario.detail = Detail::rounds;
  const double rounds = simulate(scenario).talk_seconds;
  EXPECT_NEAR(flows, 2 * (0.030 + 0.002 / 2), 1e-5);
  EXPECT_NEAR(rounds, 2 * (0.010 + 0.002 / 2), 1e-5);
}

TEST(Talks, PartsThatDoDifferentThingsNeedFlows) {
  Scenario scenario = cut_in_two(2, 1'000'000);
  scenario.further_parts[0].forward.insert(scenario.further_parts[0].forward.begin(), Stretch{0.001, {0}});
  EXPECT_EQ(simulate(scenario).detail, "flows");
  scenario.detail = Detail::rounds;
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "do different things");
}

TEST(Talks, AllRanksOfAReplicaMustBeThere) {
  Scenario scenario = cut_in_two(3, 1'000'000);
  EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "3 ranks cannot be divided into replicas of 2 ranks each");
  scenario = cut_in_two(2, 1'000'000);
  for (Workload* part : {&scenario.workload, &scenario.further_parts[0]})
    for (Stretch& stretch : part->forward) stretch.talk->circle = "nobody";
  for (const Detail detail : {Detail::flows, Detail::rounds}) {
    scenario.detail = detail;
    EXPECT_HAS(tests::error_of([&] { simulate(scenario); }), "the circle 'nobody'");
  }
}

}  // namespace
}  // namespace isobar::sim
