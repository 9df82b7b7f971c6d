// What servers make of pushes, by hand: a model of two weights, and workers that are written here.
#include "isobar/parallel/server_rule.hpp"

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"
#include "isobar/parallel/served_model.hpp"

namespace isobar::parallel {
namespace {

class Served {
 public:
  Served(std::unique_ptr<ServerRule> by, int workers)
      : rule(std::move(by)), world_(comm::alone()), crew_{*world_, std::vector<int>(workers), comm::alone()} {
    const std::vector<ServedParameter> parameters{{.count = 1}, {.count = 1}};
    model.begin(parameters, {0, 1}, 0);
    for (const std::span<float> part : model.kept().state()) part[0] = 1;
    rule->begin(model);
  }

  void push(int worker, std::vector<float> numbers, double rate = 1, std::int64_t age = 0, double samples = 1) {
    std::ranges::copy(numbers, rule->room(worker).begin());
    rule->take({worker, rule->room(worker), {.learning_rate = rate}, age, samples});
  }
  std::vector<float> weights() const { return {model.kept().numbers().begin(), model.kept().numbers().end()}; }
  std::vector<float> answer(int worker) {
    const std::span<const float> told = rule->answer(worker);
    return {told.begin(), told.end()};
  }

  std::unique_ptr<ServerRule> rule;

 private:
  std::unique_ptr<comm::Comm> world_;
  ServedModel::Crew crew_;
  const std::unique_ptr<optim::Optimizer> sgd_ = make(optim::optimizers(), "sgd", "optimizer");
  const ServerSetting setting_{*sgd_};

 public:
  ServedModel model{crew_, setting_};
};

using Numbers = std::vector<float>;

TEST(ServerRule, AtOnceEachPushIsAnUpdate) {
  Served served(apply_at_once(false), 2);
  served.push(0, {0.5f, 0});
  EXPECT_TRUE(served.rule->may_answer(0));
  EXPECT_EQ(served.answer(0), (Numbers{0.5f, 1}));
  served.push(1, {0, 0.25f}, 2, 1);
  EXPECT_EQ(served.weights(), (Numbers{0.5f, 0.5f}));
  EXPECT_EQ(served.model.updates(), 2);
}

TEST(ServerRule, TogetherNothingHappensBeforeTheLastHasPushed) {
  Served served(apply_together(false), 3);
  served.push(2, {0.25f, 0});
  served.push(0, {0.25f, 0.5f});
  EXPECT_FALSE(served.rule->may_answer(0));
  EXPECT_EQ(served.weights(), (Numbers{1, 1}));
  served.push(1, {0, 0.25f});
  for (int worker = 0; worker < 3; ++worker) {
    EXPECT_TRUE(served.rule->may_answer(worker));
    EXPECT_EQ(served.answer(worker), (Numbers{0.5f, 0.25f}));
  }
  EXPECT_EQ(served.model.updates(), 1);
}

TEST(ServerRule, TogetherTheMeanIsThatOfTheSamples) {
  Served served(apply_together(true), 2);
  served.push(0, {1, 0}, 1, 0, 1);
  served.push(1, {0, 1}, 1, 0, 3);
  EXPECT_EQ(served.weights(), (Numbers{0.75f, 0.25f}));
}

TEST(ServerRule, WhoLeavesIsNotWaitedFor) {
  Served together(apply_together(false), 2);
  together.push(1, {0.5f, 0.5f});
  together.rule->leaves(0, true);
  EXPECT_TRUE(together.rule->may_answer(1));
  EXPECT_EQ(together.weights(), (Numbers{0.5f, 0.5f}));

  Served clocks(apply_by_clocks(0), 2);
  clocks.push(1, {0.5f, 0.5f});
  EXPECT_FALSE(clocks.rule->may_answer(1));
  clocks.rule->leaves(0, true);
  EXPECT_TRUE(clocks.rule->may_answer(1));
}

TEST(ServerRule, AWorkerMayBeAheadByTheBoundOfClocks) {
  Served served(apply_by_clocks(2), 2);
  for (int push = 0; push < 2; ++push) {
    served.push(0, {0, 0});
    EXPECT_TRUE(served.rule->may_answer(0));
  }
  served.push(0, {0, 0});
  EXPECT_FALSE(served.rule->may_answer(0));
  served.push(1, {0, 0});
  EXPECT_TRUE(served.rule->may_answer(0));
  EXPECT_TRUE(served.rule->may_answer(1));
}

// Of the way between worker and centre each goes a part, so that their sum stays; with moving = workers they change
// places.
TEST(ServerRule, WorkersAndCentrePullAtEachOther) {
  Served served(pull_together(0.5), 2);
  served.push(0, {5, -3});
  EXPECT_EQ(served.answer(0), (Numbers{4, -2}));
  EXPECT_EQ(served.weights(), (Numbers{2, 0}));
  Served far(pull_together(2), 2);
  far.push(1, {7, 8});
  EXPECT_EQ(far.answer(1), (Numbers{1, 1}));
  EXPECT_EQ(far.weights(), (Numbers{7, 8}));
  Served apart(pull_together(0), 2);
  apart.push(0, {7, 8});
  EXPECT_EQ(apart.answer(0), (Numbers{7, 8}));
  EXPECT_EQ(apart.weights(), (Numbers{1, 1}));
}

}  // namespace
}  // namespace isobar::parallel
