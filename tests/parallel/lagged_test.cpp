// lagged on a model of one weight, by hand; and what it keeps from step to step.
#include <cmath>
#include <numbers>

#include "tests/parallel/quadratic.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel::trials {
namespace {

using Weights = std::vector<float>;

// Rate times curvature is 1/2. With a lag of 1 the gradients are taken at 1, 1, 1/2 and 0 and applied one step later,
// the last one at the end; with a lag of 2 at 1, 1, 1 and 1/2, and two at the end.
TEST(KnownAnswer, lagged) {
  EXPECT_EQ(descend({"lagged", {{1}, {3}}}), (Weights{1, 0.5f, 0, -0.25f, -0.25f}));
  EXPECT_EQ(descend({"lagged(k=2)", {{1}, {3}}}), (Weights{1, 1, 0.5f, 0, -0.75f}));
  EXPECT_EQ(descend({"lagged(k=0)", {{1}, {3}}}), (Weights{0.5f, 0.25f, 0.125f, 0.0625f, 0.0625f}));
}

// A lag of k makes descent unstable where rate times curvature reaches 2 sin(pi / (2 (2 k + 1))): 2, 1, 0.618, 0.445.
TEST(KnownAnswer, lagged_is_stable_as_far_as_theory_says) {
  for (const int lag : {0, 1, 2, 3}) {
    const double bound = 2 * std::sin(std::numbers::pi / (2 * (2 * lag + 1)));
    const std::string strategy = fmt::format("lagged(k={})", lag);
    EXPECT_LT(std::abs(descend({strategy, {{1}}, 0.98 * bound, 3000}).back()), 1e-3) << lag;
    EXPECT_GT(std::abs(descend({strategy, {{1}}, 1.02 * bound, 700}).back()), 10) << lag;
  }
}

TEST(Lagged, WithoutLagIsSync) {
  Training s;
  for (const int ranks : {1, 2, 3}) {
    s.strategy = "sync";
    const Outcome expected = train(ranks, s);
    s.strategy = "lagged(k=0)";
    const Outcome outcome = train(ranks, s);
    EXPECT_EQ(outcome.weights, expected.weights);
    EXPECT_EQ(outcome.losses, expected.losses);
  }
}

TEST(Lagged, TheFirstStepsApplyNothing) {
  Training s;
  s.strategy = "lagged(k=2)";
  comm::run_ranks(
      2,
      [&](comm::Comm& comm) {
        Trained trained(comm, s);
        const auto start = trained.weights();
        trained.step(1);
        trained.step(2);
        EXPECT_EQ(trained.weights(), start);
        trained.step(3);
        EXPECT_NE(trained.weights(), start);
      },
      2);
}

// Checkpoints hold seven numbers for each gradient under way, and zeros where there is none.
TEST(Lagged, KeepsTheStepsOfItsGradients) {
  Training s;
  s.strategy = "lagged(k=2)";
  s.clip_norm = 0.5;
  const auto comm = comm::alone();
  Trained trained(*comm, s);
  const auto kept = [&] {
    return numbers_of(trained.strategy().state(trained.replica()), exec::StateBlock::Scope::once);
  };
  EXPECT_EQ(kept(), std::vector<double>(14));
  trained.step(1);
  EXPECT_EQ(kept(), (std::vector<double>{1, 0.2, 1, 1, 1, 0.5, 0, 0, 0, 0, 0, 0, 0, 0}));
  trained.step(2);
  trained.step(3);
  EXPECT_EQ(kept(), (std::vector<double>{3, 0.2 / 3, 1, 1, 1, 0.5, 0, 2, 0.1, 1, 1, 1, 0.5, 0}));
  trained.strategy().settle(trained.replica(), Settle::updates);
  EXPECT_EQ(kept(), std::vector<double>(14));
}

}  // namespace
}  // namespace isobar::parallel::trials
