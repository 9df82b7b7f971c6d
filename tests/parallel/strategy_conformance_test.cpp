// What every strategy that exchanges gradients must do, whatever it is called: walks the catalogue.
#include "isobar/comm/collectives.hpp"

#include "tests/expect_error.hpp"
#include "tests/parallel/forwarding_replica.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;

// How many ranks a node may have.
std::vector<int> nodes_of(int ranks) { return ranks > 2 ? std::vector{1, 2, ranks} : std::vector{1, ranks}; }

constexpr double rounding = 2e-5;

// Trained by hand, without any strategy: the gradient of step t applied `lag` steps later, the rest at the end.
Outcome by_hand(const Training& setup, int parts, int lag) {
  Training alone = setup;
  alone.strategy = "solo";
  alone.micro = parts;
  Outcome outcome;
  const auto comm = comm::alone();
  Trained trained(*comm, alone);
  ComputedReplica& replica = trained.replica();
  std::vector<std::pair<optim::Step, std::vector<float>>> waiting;
  const auto apply = [&] {
    const auto& [step, sum] = waiting.front();
    for (int p = 0; p < replica.count(); ++p) replica.update(p, replica[p].in(std::span(sum)), step);
    waiting.erase(waiting.begin());
  };
  for (int t = 1; t <= setup.steps; ++t) {
    std::vector<float> sum(replica.gradients().size());
    double loss = 0;
    const Dealt dealt = trained.deal(t);
    for (const Feed& feed : dealt.feeds) {
      if (feed.run.rows == 0) continue;
      loss += replica.forward(feed);
      replica.backward(feed, {});
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += replica.gradients()[i];
    }
    outcome.losses.push_back(loss);
    waiting.emplace_back(step_number(t, setup), sum);
    if (std::ssize(waiting) > lag) apply();
  }
  while (!waiting.empty()) apply();
  outcome.weights = trained.weights();
  return outcome;
}

struct StrategyInstance {
  const char* strategy;
  int lag;
  friend void PrintTo(const StrategyInstance& instance, std::ostream* out) { *out << instance.strategy; }
};

class EveryStrategy : public testing::TestWithParam<StrategyInstance> {
 protected:
  Training setup() const {
    Training s;
    s.strategy = GetParam().strategy;
    return s;
  }
  static Training with(Training s, const std::string& argument) {
    s.strategy += (s.strategy.back() == ')' ? "" : "()");
    const char before = s.strategy[s.strategy.size() - 2];
    s.strategy.insert(s.strategy.size() - 1, (before == '(' ? "" : ", ") + argument);
    return s;
  }
};

// P ranks with a part of the batch each do what one does with all of it: to rounding, since sums have another order.
TEST_P(EveryStrategy, ManyRanksTrainAsOneWithTheWholeBatch) {
  const Outcome one = by_hand(setup(), 1, GetParam().lag);
  for (int ranks = 1; ranks <= 5; ++ranks)
    for (const int per_node : nodes_of(ranks)) {
      Training s = setup();
      s.per_node = per_node;
      EXPECT_LT(distance(train(ranks, s), one), rounding) << ranks << " ranks, " << per_node << " a node";
    }
}

TEST_P(EveryStrategy, SharesMayBeUnevenAndRanksWithoutRows) {
  const Outcome one = by_hand(setup(), 1, GetParam().lag);
  Training s = setup();
  s.shares = {7, 0, 5};
  EXPECT_LT(distance(train(3, s), one), rounding);
  s.micro = 2;
  s.shares = {1, 4, 0, 0, 7, 0};
  EXPECT_LT(distance(train(3, s), one), rounding);
}

TEST_P(EveryStrategy, StatisticsTakenTogetherAreThoseOfTheWholeBatch) {
  Training s = setup();
  s.joint_norm = true;
  const Outcome one = by_hand(s, 1, GetParam().lag);
  EXPECT_LT(distance(train(2, s), one), 10 * rounding);
  s.shares = {7, 0, 5};
  EXPECT_LT(distance(train(3, s), one), 10 * rounding);
}

TEST_P(EveryStrategy, MicroBatchesAddUpToTheBatch) {
  const Outcome one = by_hand(setup(), 1, GetParam().lag);
  for (const int ranks : {1, 2})
    for (const int micro : {2, 3}) {
      Training s = setup();
      s.micro = micro;
      EXPECT_LT(distance(train(ranks, s), one), rounding) << ranks << " ranks, " << micro << " micro-batches";
    }
}

TEST_P(EveryStrategy, BucketsOfAnySizeGiveTheSameBits) {
  Training s = setup();
  const Outcome expected = train(2, s);
  for (const char* size : {"bucket_mb=0", "bucket_mb=0.001", "bucket_mb=1000"})
    EXPECT_EQ(train(2, with(s, size)).weights, expected.weights) << size;
}

// The sum of two numbers has one order: nothing may differ.
TEST_P(EveryStrategy, TwoRanksEqualTheHandWrittenUpdateBitForBit) {
  for (const char* optimizer : {"sgd(momentum=0.9)", "adam"}) {
    Training s = setup();
    s.optimizer = optimizer;
    EXPECT_EQ(train(2, s).weights, by_hand(s, 2, GetParam().lag).weights) << optimizer;
  }
}

TEST_P(EveryStrategy, DeterministicIsTheSameOnOneTwoFourAndEightRanks) {
  Training s = with(setup(), "deterministic=true");
  s.moving_norm = true;
  s.batch = 16;
  s.micro = 8;
  s.clip_norm = 0.5;
  const Outcome one = train(1, s);
  for (const int ranks : {2, 4, 8})
    for (const int per_node : nodes_of(ranks)) {
      s.micro = 8 / ranks;
      s.per_node = per_node;
      const Outcome many = train(ranks, s);
      EXPECT_EQ(many.weights, one.weights) << ranks << " ranks, " << per_node << " a node";
      EXPECT_EQ(many.losses, one.losses) << ranks << " ranks, " << per_node << " a node";
    }
}

TEST_P(EveryStrategy, DeterministicCountsEmptyMicroBatchesToo) {
  Training s = with(setup(), "deterministic=true");
  s.moving_norm = true;
  s.shares = {3, 2, 0, 3, 1, 3, 0, 0};
  s.micro = 8;
  const Outcome one = train(1, s);
  s.micro = 2;
  const Outcome four = train(4, s);
  EXPECT_EQ(four.weights, one.weights);
  EXPECT_EQ(four.losses, one.losses);
}

TEST_P(EveryStrategy, DeterministicRefusesWhatCannotBe) {
  EXPECT_HAS(error_of([&] { train(3, with(setup(), "deterministic=true")); }), "1, 2, 4, 8");
  Training s = with(setup(), "deterministic=true");
  s.micro = 3;
  EXPECT_HAS(error_of([&] { train(2, s); }), "micro-batches");
  s.micro = 2;
  s.joint_norm = true;
  EXPECT_HAS(error_of([&] { train(2, s); }), "by micro-batch");
  EXPECT_HAS(error_of([&] { train(1, with(s, "wire=bf16")); }), "travel as float");
  EXPECT_HAS(error_of([&] { train(1, with(s, "algorithm=ring")); }), "reproducible");
}

TEST_P(EveryStrategy, SixteenBitsOnTheWireComeClose) {
  Training s = setup();
  s.per_node = 1;
  const Outcome exact = train(3, s);
  for (const char* wire : {"wire=bf16", "wire=fp16"}) {
    const Outcome rounded = train(3, with(s, wire));
    EXPECT_NE(rounded.weights, exact.weights) << wire;
    EXPECT_LT(distance(rounded, exact), 0.02) << wire;
    // What was computed before the first update has not lost a digit.
    EXPECT_NEAR(rounded.losses[0], exact.losses[0], 1e-7) << wire;
  }
}

TEST_P(EveryStrategy, ClipsToTheGlobalNorm) {
  Training s = setup();
  s.clip_norm = 0.05;
  s.steps = 1;
  s.optimizer = "sgd";
  const Outcome one = train(1, s), two = train(2, s);
  EXPECT_LT(distance(one, two), rounding);
  // Plain descent moves by rate times gradient, so the way gone has the length rate times norm.
  const auto comm = comm::alone();
  const auto start = Trained(*comm, Training{}).weights();
  double way = 0;
  for (const auto& [name, values] : two.weights)
    for (std::size_t i = 0; i < values.size(); ++i) way += std::pow(values[i] - start.at(name)[i], 2);
  EXPECT_NEAR(std::sqrt(way), 0.2 * 0.05, 1e-6);
}

TEST_P(EveryStrategy, ANormBelowTheLimitIsLeftAlone) {
  Training s = setup();
  const Outcome free = train(2, s);
  s.clip_norm = 1e6;
  EXPECT_EQ(train(2, s).weights, free.weights);
}

TEST_P(EveryStrategy, RunningStatisticsBecomeTheMeanOverSamples) {
  Training s = setup();
  s.moving_norm = true;
  s.steps = 1;
  s.shares = {8, 0, 4};
  std::vector<std::map<std::string, std::vector<float>>> before(3);
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        Trained trained(comm, s);
        trained.step(1);
        before[static_cast<std::size_t>(comm.rank())] = trained.weights();
        trained.strategy().settle(trained.replica(), Settle::judged);
        const auto after = trained.weights();
        comm::barrier(comm);
        for (const char* name : {"norm.mean", "norm.variance"})
          for (std::size_t i = 0; i < after.at(name).size(); ++i)
            EXPECT_NEAR(after.at(name)[i], (8 * before[0].at(name)[i] + 4 * before[2].at(name)[i]) / 12, 1e-6) << name;
        // Nothing new: not a bit may change.
        trained.strategy().settle(trained.replica(), Settle::judged);
        EXPECT_EQ(trained.weights(), after);
      },
      3);
}

// Breaks in the middle of the backward pass, when some gradients are under way already.
class BreakingReplica final : public ForwardingReplica {
 public:
  using ForwardingReplica::ForwardingReplica;
  void backward(const Feed& feed, const std::function<void(int p)>& ready) override {
    int count = 0;
    whole_.backward(feed, [&](int p) {
      if (++count == 3) fail("out of luck");
      if (ready) ready(p);
    });
  }
};

TEST_P(EveryStrategy, ARankThatFailsInBackwardEndsAll) {
  const auto work = [&](comm::Comm& comm) {
    Trained trained(comm, with(setup(), "bucket_mb=0"));
    trained.step(1);
    BreakingReplica breaking(trained.replica());
    const Dealt dealt = trained.deal(2);
    if (comm.rank() == 1) trained.strategy().step(breaking, dealt.feeds, {2, 0.1});
    for (int t = 2; t <= 9; ++t) trained.step(t);
  };
  EXPECT_EQ(error_of([&] { comm::run_ranks(3, work, 3); }), "[rank 1] out of luck");
}

TEST_P(EveryStrategy, WaitsAreRecordedWithTheirBytes) {
  comm::run_ranks(
      2,
      [&](comm::Comm& comm) {
        Trained trained(comm, with(setup(), "bucket_mb=0"));
        for (int t = 1; t <= 2; ++t) trained.step(t);
        trained.strategy().settle(trained.replica(), Settle::updates);
        const CategoryTotal total = trained.trace().total(Category::communication);
        EXPECT_GT(total.events, 0);
        // Two steps of all trained gradients, padding included, and the numbers beside them.
        double floats = 0;
        for (int p = 0; p < trained.store().count(); ++p)
          if (trained.replica()[p].trained) floats += static_cast<double>(trained.store().gradient(p).size());
        EXPECT_GE(total.bytes, 2 * 4 * floats);
        EXPECT_FALSE(trained.strategy().describe().empty());
      },
      2);
}

// A run that goes on from what a checkpoint would hold ends with the same bits as one that never stopped.
TEST_P(EveryStrategy, GoesOnFromWhatItKeptBitForBit) {
  Training s = setup();
  s.optimizer = "adam";
  s.clip_norm = 0.3;
  comm::run_ranks(
      2,
      [&](comm::Comm& comm) {
        Trained straight(comm, s);
        for (int t = 1; t <= 3; ++t) straight.step(t);
        straight.strategy().settle(straight.replica(), Settle::judged);
        Trained resumed(comm, s);
        const auto copy = [](auto from, auto to) {
          ASSERT_EQ(from.size(), to.size());
          std::ranges::copy(from, to.begin());
        };
        copy(straight.store().all_weights(), resumed.store().all_weights());
        for (int p = 0; p < straight.store().count(); ++p)
          for (int slot = 0; slot < straight.store().slot_count(); ++slot)
            copy(straight.store().slot(p, slot), resumed.store().slot(p, slot));
        const exec::StateBlocks from = straight.strategy().state(straight.replica()),
                                to = resumed.strategy().state(resumed.replica());
        ASSERT_EQ(from.size(), to.size());
        for (std::size_t i = 0; i < from.size(); ++i) {
          EXPECT_EQ(from[i].name, to[i].name);
          copy(from[i].floats(), to[i].floats());
        }
        for (const auto scope : {exec::StateBlock::Scope::once, exec::StateBlock::Scope::each_rank})
          set_numbers(to, scope, numbers_of(from, scope));
        for (Trained* run : {&straight, &resumed}) {
          for (int t = 4; t <= 6; ++t) run->step(t);
          run->strategy().settle(run->replica(), Settle::updates);
        }
        EXPECT_EQ(resumed.weights(), straight.weights());
      },
      2);
}

INSTANTIATE_TEST_SUITE_P(Parallel, EveryStrategy,
                         testing::Values(StrategyInstance{"sync", 0}, StrategyInstance{"lagged(k=0)", 0},
                                         StrategyInstance{"lagged", 1}, StrategyInstance{"lagged(k=3)", 3}),
                         [](const auto& instance) {
                           std::string name;
                           for (const char c : std::string(instance.param.strategy))
                             if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                           return name;
                         });

TEST(Strategies, EveryMemberIsWalked) {
  EXPECT_EQ(names(strategies()), (std::vector<std::string>{"async", "easgd", "ensemble", "gossip", "groups", "hogwild",
                                                           "lagged", "local", "server", "solo", "stale", "sync"}));
}

}  // namespace
}  // namespace isobar::parallel::trials
