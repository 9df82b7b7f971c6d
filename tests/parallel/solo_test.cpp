#include <gtest/gtest.h>

#include "tests/expect_error.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel {
namespace {

// y = w x with one weight: the mean squared error over the batch has the gradient 2 mean((w x - y) x).
TEST(KnownAnswer, solo_takes_one_plain_sgd_step) {
  graph::Graph g;
  const graph::ValueId x = g.input("x", {2, 1});
  const graph::ValueId y = g.add("dense(units=1, bias=false, init=constant(value=0.5))", x, "fc");
  g.output("prediction", y);
  g.loss(g.add("mse", {y, g.input("y", {2, 1})}, "loss"));
  const graph::Plan plan = graph::make_plan(g);
  const auto rule = make(optim::optimizers(), "sgd", "optimizer");
  exec::ParamStore store(plan, rule->slots());
  store.initialize(1);
  StepTrace trace;
  exec::Executor executor(plan, store, &trace.main());
  ComputedReplica replica(executor, store, *rule, &trace);
  const auto strategy = make(strategies(), "solo", "strategy");
  const std::vector<float> xs{1, 3}, ys{2, -1};
  const std::vector<std::int64_t> samples{0, 1};
  const Feed feed{{{"x", xs}, {"y", ys}}, {.samples = samples}};
  const double loss = strategy->step(replica, {&feed, 1}, {1, 0.1});
  const double gradient = (2 * (0.5 - 2) * 1 + 2 * (1.5 + 1) * 3) / 2;
  EXPECT_NEAR(loss, ((0.5 - 2) * (0.5 - 2) + 2.5 * 2.5) / 2, 1e-6);
  EXPECT_NEAR(replica[0].gradient[0], gradient, 1e-5);
  EXPECT_NEAR(replica[0].weight[0], 0.5 - 0.1 * gradient, 1e-6);
  EXPECT_EQ(trace.main().total(Category::optimizer).events, 2);  // the search for bad numbers, and the update
}

TEST(Solo, UnknownStrategyIsAnsweredWithTheKnown) {
  EXPECT_THROW(make(strategies(), "sync_all", "strategy"), UsageError);
}

TEST(Solo, AddsUpMicroBatchesAndClips) {
  for (const double norm : {0.0, 0.05}) {
    trials::Training whole, cut;
    whole.strategy = cut.strategy = "solo";
    whole.clip_norm = cut.clip_norm = norm;
    cut.micro = 3;
    EXPECT_LT(trials::distance(trials::train(1, whole), trials::train(1, cut)), 2e-5);
    trials::Training sync = cut;
    sync.strategy = "sync";
    EXPECT_EQ(trials::train(1, sync).weights, trials::train(1, cut).weights);
  }
}

// The same bits as many ranks, in running statistics too.
TEST(Solo, DeterministicIsWhatAllRanksComputeTogether) {
  trials::Training alone, together;
  alone.strategy = "solo(deterministic=true)";
  together.strategy = "sync(deterministic=true)";
  for (trials::Training* training : {&alone, &together}) {
    training->moving_norm = true;
    training->clip_norm = 0.5;
    training->shares = {3, 2, 0, 3, 1, 3, 0, 0};
    training->micro = 8;
  }
  const trials::Outcome one = trials::train(1, alone);
  EXPECT_EQ(trials::train(1, together).weights, one.weights);
  together.micro = 2;
  const trials::Outcome four = trials::train(4, together);
  EXPECT_EQ(four.weights, one.weights);
  EXPECT_EQ(four.losses, one.losses);
}

TEST(Solo, LetsThePlanPlaceGradientsUnlessStatisticsWaitInTheirMemory) {
  EXPECT_TRUE(make(strategies(), "solo", "strategy")->traits().gradients_in_arena);
  EXPECT_FALSE(make(strategies(), "solo(deterministic=true)", "strategy")->traits().gradients_in_arena);
  EXPECT_FALSE(make(strategies(), "sync", "strategy")->traits().gradients_in_arena);
}

TEST(Solo, RefusesSeveralRanks) {
  trials::Training training;
  training.strategy = "solo";
  EXPECT_HAS(isobar::tests::error_of([&] { trials::train(2, training); }), "'sync' trains one model");
}

TEST(Solo, HasNoUseForACodec) {
  EXPECT_EQ(make(strategies(), "solo(codec=float)", "strategy")->describe(), "solo");
  EXPECT_HAS(isobar::tests::error_of([] { make(strategies(), "solo(codec=topk)", "strategy"); }),
             "strategy 'solo': codec must be float");
}

}  // namespace
}  // namespace isobar::parallel
