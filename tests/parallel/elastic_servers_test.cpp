// Elastic averaging with a centre on servers: teams that train by themselves and push their weights.
#include "isobar/parallel/served_parts.hpp"
#include "isobar/parallel/served_teams.hpp"
#include "isobar/parallel/server_link.hpp"
#include "isobar/parallel/server_outers.hpp"
#include "isobar/parallel/team_line.hpp"

#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

std::unique_ptr<Strategy> elastic(double beta, std::int64_t period) {
  return make(strategies(), fmt::format("easgd(beta={}, period={}, centre=server)", beta, period), "strategy");
}

struct Pulled {
  float centre = 0, own = 0;
};

// One worker on the parabola: its own weight and the centre behind so many steps.
Pulled pulled(double moving, std::int64_t period, double rate, int steps) {
  Pulled end;
  comm::run_ranks(
      2,
      [&](comm::Comm& comm) {
        const auto strategy = elastic(moving, period);
        Parabola parabola;
        const bool serves = comm.rank() == 1;
        strategy->open(comm, serves ? 0 : parabola.gradients().size(), {});
        const auto adam = make(optim::optimizers(), "adam", "optimizer");  // its slots stay with those that train
        if (serves) return strategy->serve({*adam});
        strategy->begin(parabola, 0);
        const Feed feed{{{"x", {}}}, {.rows = 1, .total = 1}};
        for (int t = 1; t <= steps; ++t) {
          strategy->step(parabola, {&feed, 1}, {.index = t, .learning_rate = rate});
          end.own = parabola.x();
        }
        strategy->end(parabola);
        end.centre = parabola.x();
      },
      2);
  return end;
}

// Pull and gradient are both taken where a step begins: at 1, as the centre; then 1/2 away from it.
TEST(ElasticServers, AWorkerDescendsAndIsPulledAtOnce) {
  const Pulled one = pulled(0.25, 1, 0.5, 1);
  EXPECT_EQ(one.own, 0.5f);
  EXPECT_EQ(one.centre, 1);
  const Pulled two = pulled(0.25, 1, 0.5, 2);
  EXPECT_EQ(two.own, 0.5f + 0.125f - 0.25f);
  EXPECT_EQ(two.centre, 0.875f);
  // Every second step only.
  EXPECT_EQ(pulled(0.25, 2, 0.5, 1).centre, 1);
  EXPECT_EQ(pulled(0.25, 2, 0.5, 2).own, 0.375f);
  EXPECT_EQ(pulled(0.25, 2, 0.5, 3).own, 0.1875f);
}

TEST(ElasticServers, WithoutPullTheWorkerIsAlone) {
  const Pulled end = pulled(0, 1, 0.5, 5);
  EXPECT_EQ(end.own, 0.03125f);
  EXPECT_EQ(end.centre, 1);
}

// Alone with a centre, a worker is stable up to a pull of (4 - 2 r) / (4 - r).
TEST(ElasticServers, AreStableUpToThePullThatTheRateAllows) {
  for (const double rate : {0.5, 1.0, 1.5}) {
    const double limit = (4 - 2 * rate) / (4 - rate);
    EXPECT_LT(std::abs(pulled(0.97 * limit, 1, rate, 400).own), 0.1) << rate;
    EXPECT_GT(std::abs(pulled(1.03 * limit, 1, rate, 400).own), 10) << rate;
  }
}

TEST(ElasticServers, ReadingTheCentreLeavesTheWorkerItsOwnWeights) {
  comm::run_ranks(
      2,
      [&](comm::Comm& comm) {
        const auto strategy = elastic(0.25, 4);
        Parabola parabola;
        strategy->open(comm, comm.rank() == 1 ? 0 : parabola.gradients().size(), {});
        const auto sgd = make(optim::optimizers(), "sgd", "optimizer");
        if (comm.rank() == 1) return strategy->serve({*sgd});
        strategy->begin(parabola, 0);
        const Feed feed{{{"x", {}}}, {.rows = 1, .total = 1}};
        strategy->step(parabola, {&feed, 1}, {.index = 1, .learning_rate = 0.5});
        EXPECT_EQ(parabola.x(), 0.5f);
        strategy->settle(parabola, Settle::judged);
        EXPECT_EQ(parabola.x(), 1) << "the centre";
        strategy->step(parabola, {&feed, 1}, {.index = 2, .learning_rate = 0.5});
        EXPECT_EQ(parabola.x(), 0.25f);
        strategy->end(parabola);
      },
      2);
}

TEST(ServedParts, LayersAreNamedByTheirParameters) {
  EXPECT_EQ(layer_of("block.conv1.weight"), "block.conv1");
  EXPECT_EQ(layer_of("w0"), "w0");
}

TEST(ServedTeams, WhatIsBetweenThemIsReadFromItsStrategy) {
  Spec resolved;
  EXPECT_EQ(read_between("stale(bound=2)", &resolved).pace, comm::Pace::bounded);
  EXPECT_EQ(resolved.str(), "stale(bound=2)");
  EXPECT_EQ(read_between("async").name, "async");
}

TEST(ServedTeams, AdviseTheMomentumThatIsLeftToTheOptimizer) {
  EXPECT_DOUBLE_EQ(advised_momentum(0.9, 1), 0.9);
  EXPECT_DOUBLE_EQ(advised_momentum(0.9, 4), 0.6);
  EXPECT_NEAR(advised_momentum(0.9, 10), 0, 1e-12);
  EXPECT_LT(advised_momentum(0.9, 20), 0);
}

}  // namespace
}  // namespace isobar::parallel::trials
