// ensemble on a model of one weight: every rank descends as it would alone.
#include "tests/expect_error.hpp"
#include "tests/parallel/descents_apart.hpp"
#include "tests/parallel/small_training.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;
using Weights = std::vector<float>;

// The weight of each rank after each step.
std::vector<Weights> descend_alone(const std::string& strategy, const std::vector<Weights>& curvatures,
                                   const Weights& begin) {
  std::vector<Weights> weights(curvatures.size());
  std::size_t samples = 0;
  for (const Weights& of_rank : curvatures) samples += of_rank.size();
  comm::run_ranks(static_cast<int>(curvatures.size()), [&](comm::Comm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto made = make(strategies(), Spec(strategy), "strategy");
    QuadraticReplica replica(made->open(comm, 16, {}));
    replica.weight() = begin[rank];
    made->begin(replica, 0);
    for (int t = 1; t <= 4; ++t) {
      const Feed feed{{{"h", curvatures[rank]}},
                      {.rows = std::ssize(curvatures[rank]), .total = static_cast<double>(samples)}};
      made->step(replica, {&feed, 1}, {t, 0.25});
      made->settle(replica, Settle::judged);
      weights[rank].push_back(replica.weight());
    }
    made->settle(replica, Settle::updates);
    EXPECT_EQ(replica.weight(), weights[rank].back());
  });
  return weights;
}

// w <- w - 0.25 h w with each rank's own mean curvature, 1 and 3, and nothing else, whatever is evaluated between.
TEST(KnownAnswer, ensemble) {
  for (const char* const strategy : {"ensemble", "ensemble(data=share)"}) {
    const std::vector<Weights> weights = descend_alone(strategy, {{1}, {2, 4}}, {1, 2});
    EXPECT_EQ(weights[0], (Weights{0.75f, 0.5625f, 0.421875f, 0.31640625f}));
    EXPECT_EQ(weights[1], (Weights{0.5f, 0.125f, 0.03125f, 0.0078125f}));
  }
}

TEST(KnownAnswer, ensemble_of_one_is_solo) {
  Training s;
  s.optimizer = "adam";
  s.strategy = "solo";
  const Outcome solo = train(1, s);
  s.strategy = "ensemble";
  EXPECT_LT(distance(train(1, s), solo), 1e-6);
}

TEST(Ensemble, KeepsTheModelOfEveryRank) {
  comm::run_ranks(2, [&](comm::Comm& comm) {
    Training s;
    s.strategy = "ensemble", s.optimizer = "adam", s.moving_norm = true;
    Trained trained(comm, s);
    const exec::StateBlocks blocks = trained.strategy().state(trained.replica());
    ASSERT_EQ(blocks.size(), 3u);  // with two slots
    EXPECT_EQ(blocks[0].name, member_weights);
    EXPECT_EQ(blocks[0].floats().data(), trained.replica().weights().data());
    for (const exec::StateBlock& block : blocks) {
      EXPECT_EQ(block.scope, exec::StateBlock::Scope::each_rank);
      EXPECT_EQ(block.start, exec::StateBlock::Start::required);
      EXPECT_FALSE(block.may_drop);
      EXPECT_TRUE(block.in_use);
    }
  });
}

// What one rank finds is met by all, and nothing has changed.
TEST(Ensemble, BadNumbersAreMetByAll) {
  comm::run_ranks(2, [&](comm::Comm& comm) {
    Training s;
    s.strategy = "ensemble";
    Trained trained(comm, s);
    trained.strategy().begin(trained.replica(), 0);
    trained.step(1);
    const auto before = trained.weights();
    Dealt dealt = trained.deal(2);
    if (comm.rank() == 1) dealt.x[0][0] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THROW(trained.strategy().step(trained.replica(), dealt.feeds, step_number(2, s)), NotFinite);
    EXPECT_EQ(trained.weights(), before);
  });
}

TEST(Ensemble, RefusesWhatItCannotDo) {
  const auto reading = [](const char* spec) { return error_of([=] { make(strategies(), Spec(spec), "strategy"); }); };
  EXPECT_HAS(reading("ensemble(codec=bf16)"), "codec must be float");
  EXPECT_HAS(reading("ensemble(deterministic=true)"), "deterministic must be false");
  EXPECT_HAS(reading("ensemble(data=some)"), "share");
}

}  // namespace
}  // namespace isobar::parallel::trials
