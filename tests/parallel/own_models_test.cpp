// What every strategy must do whose ranks each train a model of their own.
#include "tests/expect_error.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel::trials {
namespace {

class OwnModels : public testing::TestWithParam<const char*> {
 protected:
  Training setup() const {
    Training s;
    s.strategy = GetParam();
    s.moving_norm = true;
    return s;
  }
};

void copy(std::span<const float> from, std::span<float> to) {
  ASSERT_EQ(from.size(), to.size());
  if (from.data() != to.data()) std::ranges::copy(from, to.begin());
}

// As a checkpoint does it: the model first, then what is kept beside it.
void go_on_from(Trained& from, Trained& to) {
  copy(from.store().all_weights(), to.store().all_weights());
  for (int s = 0; s < from.store().slot_count(); ++s) copy(from.store().all_slots(s), to.store().all_slots(s));
  const exec::StateBlocks kept = from.strategy().state(from.replica()), blocks = to.strategy().state(to.replica());
  ASSERT_EQ(kept.size(), blocks.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].name, blocks[i].name);
    if (kept[i].in_use) copy(kept[i].floats(), blocks[i].floats());
  }
  for (const auto scope : {exec::StateBlock::Scope::once, exec::StateBlock::Scope::each_rank})
    set_numbers(blocks, scope, numbers_of(kept, scope));
}

TEST_P(OwnModels, AreJudgedAlike) {
  for (const int ranks : {1, 2, 3}) {
    std::vector<std::vector<Outcome>> judged(static_cast<std::size_t>(ranks));
    comm::run_ranks(ranks, [&](comm::Comm& comm) {
      Trained trained(comm, setup());
      trained.strategy().begin(trained.replica(), 0);
      for (int t = 1; t <= 5; ++t) {
        const double loss = trained.step(t);
        trained.strategy().settle(trained.replica(), Settle::judged);
        judged[static_cast<std::size_t>(comm.rank())].push_back({trained.weights(), {loss}});
      }
    });
    for (const std::vector<Outcome>& of_rank : judged)
      for (std::size_t t = 0; t < of_rank.size(); ++t) {
        EXPECT_EQ(of_rank[t].weights, judged[0][t].weights);
        EXPECT_EQ(of_rank[t].losses, judged[0][t].losses);
      }
  }
}

// A look at the judged model changes nothing in the training.
TEST_P(OwnModels, GoOnFromTheirOwn) {
  std::vector<Outcome> ends(2);
  for (const bool looks : {false, true})
    comm::run_ranks(3, [&](comm::Comm& comm) {
      Trained trained(comm, setup());
      trained.strategy().begin(trained.replica(), 0);
      for (int t = 1; t <= 5; ++t) {
        trained.step(t);
        if (looks && t > 1) trained.strategy().settle(trained.replica(), Settle::judged);
        if (looks && t == 3) trained.strategy().settle(trained.replica(), Settle::judged);
      }
      trained.strategy().settle(trained.replica(), Settle::updates);
      if (comm.rank() == 1) ends[looks].weights = trained.weights();
    });
  // Running statistics are weighted by the samples since they were looked at.
  const auto is_statistic = [](const std::string& name) {
    return name.find("mean") != std::string::npos || name.find("variance") != std::string::npos;
  };
  for (auto& [name, values] : ends[0].weights) {
    if (is_statistic(name)) continue;
    EXPECT_EQ(values, ends[1].weights.at(name)) << name;
  }
}

TEST_P(OwnModels, GoOnFromACheckpointBitForBit) {
  Training s = setup();
  s.optimizer = "adam";
  s.clip_norm = 0.3;
  for (int stop = 1; stop <= 4; ++stop)
    comm::run_ranks(2, [&](comm::Comm& comm) {
      Trained straight(comm, s), resumed(comm, s);
      straight.strategy().begin(straight.replica(), 0);
      for (int t = 1; t <= stop; ++t) straight.step(t);
      straight.strategy().settle(straight.replica(), Settle::judged);
      go_on_from(straight, resumed);
      resumed.strategy().begin(resumed.replica(), stop);
      for (Trained* run : {&straight, &resumed}) {
        for (int t = stop + 1; t <= stop + 4; ++t) run->step(t);
        run->strategy().settle(run->replica(), Settle::updates);
      }
      EXPECT_EQ(resumed.weights(), straight.weights()) << "stopped after step " << stop;
    });
}

// What one rank finds is met by all, and nothing has changed.
TEST_P(OwnModels, BadNumbersAreMetByAll) {
  comm::run_ranks(2, [&](comm::Comm& comm) {
    Trained trained(comm, setup());
    trained.strategy().begin(trained.replica(), 0);
    for (int t = 1; t <= 3; ++t) trained.step(t);
    const auto before = trained.weights();
    Dealt dealt = trained.deal(4);
    if (comm.rank() == 1) dealt.x[0][0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(trained.strategy().step(trained.replica(), dealt.feeds, step_number(4, setup())), NotFinite);
    EXPECT_EQ(trained.weights(), before);
    trained.step(5);
    trained.strategy().settle(trained.replica(), Settle::updates);
  });
}

TEST_P(OwnModels, ClipEachItsOwnGradient) {
  Training s = setup();
  s.clip_norm = 1e-6;
  comm::run_ranks(2, [&](comm::Comm& comm) {
    Trained trained(comm, s);
    trained.strategy().begin(trained.replica(), 0);
    const auto before = trained.weights();
    trained.step(1);
    const auto after = trained.weights();
    for (const auto& [name, values] : before)
      for (std::size_t i = 0; i < values.size(); ++i)
        if (name.find("norm") == std::string::npos) {
          ASSERT_NEAR(values[i], after.at(name)[i], 1e-6) << name;
        }
  });
}

INSTANTIATE_TEST_SUITE_P(Parallel, OwnModels,
                         testing::Values("local(steps=1)", "local(steps=2)", "local(steps=3, codec=bf16)",
                                         "local(steps=2, outer=sgd(lr=0.7, momentum=0.9, nesterov=true))",
                                         "local(steps=2, reset=true)", "local(steps=3, codec=topk(share=0.1, least=8))",
                                         "easgd(period=1)", "easgd(period=3)", "easgd(period=2, codec=fp16)",
                                         "gossip(kind=ring)", "gossip(kind=exponential, period=2)", "gossip(kind=pull)",
                                         "gossip(kind=push)"),
                         [](const auto& instance) {
                           std::string name;
                           for (const char c : std::string(instance.param))
                             if (std::isalnum(static_cast<unsigned char>(c))) name += c;
                           return name;
                         });

TEST(OwnModel, ARankAloneTrainsAsSolo) {
  Training s;
  s.optimizer = "adam";
  s.strategy = "solo";
  const Outcome solo = train(1, s);
  for (const char* const strategy : {"local(steps=2)", "gossip"}) {
    s.strategy = strategy;
    EXPECT_LT(distance(train(1, s), solo), 1e-6) << strategy;
  }
}

// With a mean in each step, momentum too follows that of sync: both are linear.
TEST(OwnModel, LocalWithAMeanInEachStepIsSync) {
  Training s;
  const Outcome sync = train(3, s);
  s.strategy = "local(steps=1)";
  EXPECT_LT(distance(train(3, s), sync), 2e-5);
  s.shares = {7, 0, 5};
  s.optimizer = "sgd";
  const Outcome local = train(3, s);
  s.strategy = "sync";
  EXPECT_LT(distance(local, train(3, s)), 2e-5);
}

}  // namespace
}  // namespace isobar::parallel::trials
