// hogwild over threads: one rank is plain training, ranks that change different weights do not meet, and nothing that
// is added to a weight is lost, at any pace.
#include "isobar/parallel/shared_weights.hpp"

#include "tests/expect_error.hpp"
#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;

constexpr std::size_t width = 40'000;  // of a parameter: several threads share the work

// A parameter for each rank.
class ManyWeights final : public PlainReplica {
 public:
  enum class Rule { shrink_own, add_to_all };
  ManyWeights(int rank, int ranks, Rule rule)
      : PlainReplica(std::vector<DeclaredPlainly>(static_cast<std::size_t>(ranks), {.numbers = width})),
        rank_(rank),
        rule_(rule) {
    for (const ReplicaParameter& each : parameters())
      for (std::size_t i = 0; i < width; ++i)
        each.weight[i] = rule == Rule::add_to_all ? 0 : 1.0f + static_cast<float>(i % 7);
  }
  static float shrunk(float weight, float gradient) { return weight - 0.25f * gradient * weight; }

  void backward(const Feed&, const std::function<void(int p)>&) override { std::ranges::fill(gradients(), 1.0f); }
  void update(int p, std::span<const float> gradient, const optim::Step&) override {
    for (float& weight : (*this)[p].weight)
      if (rule_ == Rule::add_to_all) weight += static_cast<float>(1 + rank_) * gradient[0];
      else if (p == rank_) weight = shrunk(weight, gradient[0]);
  }

 private:
  int rank_;
  Rule rule_;
};

// What the first rank has in the end, when all took their steps as they liked.
std::vector<float> free_run(const char* name, int ranks, int steps, ManyWeights::Rule rule) {
  std::vector<float> end;
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        const auto strategy = make(strategies(), name, "strategy");
        ManyWeights replica(comm.rank(), ranks, rule);
        strategy->open(comm, replica.gradients().size(), {});
        strategy->begin(replica, 0);
        const Feed feed{{}, {.rows = 1, .total = 1}};
        for (int t = 1; t <= steps; ++t) strategy->step(replica, {&feed, 1}, {t, 0.1});
        strategy->end(replica);
        if (comm.rank() > 0) return;
        for (const ReplicaParameter& each : replica.parameters())
          end.insert(end.end(), each.weight.begin(), each.weight.end());
      },
      ranks);
  return end;
}

TEST(KnownAnswer, hogwild_of_one_rank_is_solo) {
  for (const char* const optimizer :
       {"sgd", "sgd(momentum=0.9, weight_decay=0.01)", "sgd(momentum=0.9, nesterov=true, form=torch)"}) {
    Training s;
    s.optimizer = optimizer;
    s.moving_norm = true;
    s.clip_norm = 0.3;
    s.micro = 2;
    s.strategy = "solo";
    const Outcome solo = train(1, s);
    s.strategy = "hogwild";
    const Outcome alone = train_served(1, 0, s);
    EXPECT_EQ(alone.weights, solo.weights) << optimizer;
    EXPECT_EQ(alone.losses, solo.losses) << optimizer;
  }
}

TEST(KnownAnswer, hogwild_of_ranks_that_do_not_meet_is_sequential) {
  constexpr int ranks = 4, steps = 25;
  const std::vector<float> end = free_run("hogwild", ranks, steps, ManyWeights::Rule::shrink_own);
  ASSERT_EQ(end.size(), ranks * width);
  for (std::size_t i = 0; i < end.size(); ++i) {
    float expected = 1.0f + static_cast<float>(i % width % 7);
    for (int t = 0; t < steps; ++t) expected = ManyWeights::shrunk(expected, 1);
    ASSERT_EQ(end[i], expected) << i;
  }
}

// Whole numbers, so that their sum is exact in any order.
TEST(KnownAnswer, hogwild_loses_no_update) {
  constexpr int ranks = 4, steps = 25;
  for (const float weight : free_run("hogwild", ranks, steps, ManyWeights::Rule::add_to_all))
    ASSERT_EQ(weight, steps * (1 + 2 + 3 + 4));
}

// In turns, every gradient is taken where the one before has led.
TEST(KnownAnswer, hogwild_in_turns_is_descent) {
  std::atomic<int> turn = 0;
  float end = 0;
  constexpr int ranks = 3, steps = 9;
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        const auto strategy = make(strategies(), "hogwild", "strategy");
        Parabola parabola;
        strategy->open(comm, parabola.gradients().size(), {});
        strategy->begin(parabola, 0);
        const Feed feed{{{"x", {}}}, {.rows = 1, .total = 1}};
        for (int i = comm.rank(); i < steps; i += ranks) {
          for (; turn != i; std::this_thread::yield()) comm.check();
          strategy->step(parabola, {&feed, 1}, {.index = 1, .learning_rate = 0.5});
          ++turn;
        }
        strategy->end(parabola);
        if (comm.rank() == 0) end = parabola.x();
      },
      ranks);
  EXPECT_EQ(end, std::pow(0.5f, steps));
}

TEST(SharedWeights, ChangeWhatOthersHaveChangedByTheDifference) {
  comm::run_ranks(
      3,
      [](comm::Comm& comm) {
        SharedWeights shared(comm, 7);  // parts of three
        if (comm.rank() == 0) shared.write(0, std::vector<float>{1, 2, 3, 4, 5, 6, 7});
        comm::barrier(comm);
        std::vector<float> read(5);
        shared.read(1, read);
        EXPECT_EQ(read, (std::vector<float>{2, 3, 4, 5, 6}));
        comm::barrier(comm);
        // Was as it is: becomes the new number to the bit. Was something else: gets the difference.
        if (comm.rank() == 2) shared.change(1, std::vector<float>{2, 0, 4, 5, 8}, std::vector<float>{0.1f, 1, 4, 0, 6});
        comm::barrier(comm);
        read.resize(7);
        shared.read(0, read);
        EXPECT_EQ(read, (std::vector<float>{1, 0.1f, 4, 4, 0, 4, 7}));
      },
      3);
}

// Each rank its own running statistics; the first is left with the mean.
TEST(Hogwild, TheFirstRankEndsWithTheWeightsOfAll) {
  constexpr int ranks = 3;
  Training s = async_training(ranks, "hogwild");
  s.moving_norm = true;
  std::vector<WeightsByName> own(ranks);
  WeightsByName end;
  std::atomic<int> through = 0;
  comm::run_ranks(
      ranks,
      [&](comm::Comm& comm) {
        Trained trained(comm, s);
        trained.strategy().begin(trained.replica(), 0);
        for (int t = 1; t <= 4; ++t) trained.step(t);
        own[comm.rank()] = trained.weights();
        for (++through; through < ranks; std::this_thread::yield()) comm.check();
        trained.strategy().end(trained.replica());
        if (comm.rank() == 0) end = trained.weights();
      },
      ranks);
  for (const char* const name : {"norm.mean", "norm.variance"})
    for (std::size_t i = 0; i < end.at(name).size(); ++i)
      EXPECT_NEAR(end.at(name)[i], (own[0].at(name)[i] + own[1].at(name)[i] + own[2].at(name)[i]) / 3, 1e-6) << name;
}

TEST(Hogwild, AWishToStopReachesAll) {
  const Training s = async_training(3, "hogwild");
  std::atomic<std::int64_t> steps[3] = {};
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        Trained trained(comm, s);
        trained.strategy().begin(trained.replica(), 0);
        for (std::int64_t t = 1; !trained.strategy().stops(comm.rank() == 1 && t > 4); ++t)
          trained.step(t), ++steps[comm.rank()];
        trained.strategy().end(trained.replica());
      },
      3);
  EXPECT_EQ(steps[1], 4);
}

// What it has changed stays; the first rank does not wait for it in the end.
TEST(Hogwild, ADeadRankIsNotMissed) {
  const Training s = async_training(3, "hogwild");
  for (const char* const dies_at : {"step 1", "step 3", "the end"}) {
    std::atomic<int> ended = 0;
    const auto work = [&](comm::Crew& crew, int rank) {
      const auto group = crew.muster([](int available) { return available; });
      Trained trained(*group, s);
      trained.strategy().begin(trained.replica(), 0);
      if (rank > 0) group->view()->set_fate(comm::Fate::peer);
      for (int t = 1; t <= 4; ++t) {
        group->note(fmt::format("step {}", t));
        trained.step(t);
      }
      group->note("the end");
      trained.strategy().end(trained.replica());
      ++ended;
    };
    const auto note = [&](const std::string& what) { return what == dies_at; };
    const comm::CrewEnd end = comm::run_crew(3, 0, work, {{.rank = 1, .note = note}}, 3);
    EXPECT_FALSE(end.gave_up) << dies_at;
    EXPECT_EQ(end.died, std::vector{1}) << dies_at;
    EXPECT_EQ(ended, 2) << dies_at;
  }
}

TEST(Hogwild, TakesOptimizersWhoseStepsAddUp) {
  for (const char* const optimizer : {"sgd", "sgd(momentum=0.9, form=torch)", "sgd(weight_decay=0.1)"}) {
    Training s = async_training(1, "hogwild");
    s.optimizer = optimizer;
    const auto alone = comm::alone();
    Trained trained(*alone, s), untouched(*alone, s);
    trained.strategy().begin(trained.replica(), 0);
    EXPECT_EQ(trained.weights(), untouched.weights()) << optimizer;
  }
  for (const char* const optimizer : {"adam", "rmsprop", "adagrad", "lars", "lamb"}) {
    Training s = async_training(1, "hogwild");
    s.optimizer = optimizer;
    const auto alone = comm::alone();
    Trained trained(*alone, s);
    EXPECT_HAS(error_of([&] { trained.strategy().begin(trained.replica(), 0); }),
               "valid: sgd, with or without momentum")
        << optimizer;
  }
}

TEST(Hogwild, RefusesWhatCannotBe) {
  const auto on_two_nodes = [] {
    comm::run_ranks(2, [](comm::Comm& comm) { make(strategies(), "hogwild", "strategy")->open(comm, 16, {}); });
  };
  EXPECT_HAS(error_of(on_two_nodes), "the 2 ranks are on 2 nodes; valid: ranks of one node");
  EXPECT_HAS(error_of([] { make(strategies(), "hogwild(codec=bf16)", "strategy"); }), "codec must be float");
  EXPECT_HAS(error_of([] { make(strategies(), "hogwild(deterministic=true)", "strategy"); }),
             "depends on which rank comes first");
}

}  // namespace
}  // namespace isobar::parallel::trials
