// Strategy async over threads. The tests decide in which order gradients arrive, so what must come out is known.
#include <numbers>

#include "isobar/parallel/server_words.hpp"

#include "tests/expect_error.hpp"
#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;

// Without servers: one model, the weights that each worker has read last, and those that all gradients have changed.
Ended by_hand(int workers, Training setup, const Script& script) {
  setup.strategy = "solo";
  const auto comm = comm::alone();
  Trained trained(*comm, setup);
  ComputedReplica& replica = trained.replica();
  using Weights = std::vector<std::vector<float>>;
  const auto copy = [&] {
    Weights weights;
    for (const ReplicaParameter& p : replica.parameters()) weights.emplace_back(p.weight.begin(), p.weight.end());
    return weights;
  };
  const auto put = [&](const Weights& weights) {
    for (int p = 0; p < replica.count(); ++p)
      std::ranges::copy(weights[static_cast<std::size_t>(p)], replica[p].weight.begin());
  };
  Ended ended;
  ended.losses.resize(static_cast<std::size_t>(workers));
  std::vector<Weights> read(static_cast<std::size_t>(workers), copy());
  Weights kept = copy();
  std::int64_t updates = 0;
  for (const int worker : script) {
    std::vector<double>& losses = ended.losses[static_cast<std::size_t>(worker)];
    const std::int64_t t = std::ssize(losses) + 1;
    put(read[static_cast<std::size_t>(worker)]);
    const Dealt dealt = trained.deal(t, worker);
    losses.push_back(replica.forward(dealt.feeds[0]));
    replica.backward(dealt.feeds[0], {});
    const std::vector<float> gradients(replica.gradients().begin(), replica.gradients().end());
    put(kept);
    optim::Step step = step_number(t, setup);
    step.index = ++updates;
    for (int p = 0; p < replica.count(); ++p) replica.update(p, replica[p].in(std::span(gradients)), step);
    kept = read[static_cast<std::size_t>(worker)] = copy();
  }
  ended.weights = trained.weights();
  return ended;
}

TEST(Async, OneWorkerIsPlainTraining) {
  for (const char* optimizer : {"sgd(momentum=0.9)", "adam"})
    for (const int servers : {1, 2, 3})
      for (const bool moving_norm : {false, true}) {
        SCOPED_TRACE(fmt::format("{}, {} servers", optimizer, servers));
        Training s = async_training(1, fmt::format("async(servers={})", servers));
        s.optimizer = optimizer;
        s.moving_norm = moving_norm;
        const Ended ended = run_script(1, servers, s, Script(5, 0));
        s.strategy = "solo";
        s.steps = 5;
        const Outcome alone = train(1, s);
        EXPECT_EQ(ended.weights, alone.weights);
        EXPECT_EQ(ended.losses[0], alone.losses);
      }
}

TEST(KnownAnswer, async_applies_gradients_in_the_order_of_their_arrival) {
  const std::pair<int, Script> cases[] = {{2, {0, 1, 0, 0, 1, 1, 0}}, {3, {2, 0, 1, 1, 2, 0, 0, 2, 1}}};
  for (const auto& [workers, script] : cases)
    for (const char* optimizer : {"sgd", "sgd(momentum=0.9)", "adam"})
      for (const int servers : {1, 2}) {
        SCOPED_TRACE(fmt::format("{} workers, {}, {} servers", workers, optimizer, servers));
        Training s = async_training(workers, fmt::format("async(servers={})", servers));
        s.optimizer = optimizer;
        const Ended ended = run_script(workers, servers, s, script), expected = by_hand(workers, s, script);
        EXPECT_EQ(ended.weights, expected.weights);
        EXPECT_EQ(ended.losses, expected.losses);
      }
}

// Of W workers that take turns, W - 1 others come between reading the weights and the update.
TEST(Async, TellsHowOldGradientsWere) {
  Script script;
  for (int round = 0; round < 4; ++round)
    for (const int worker : {0, 1, 2}) script.push_back(worker);
  EXPECT_HAS(run_script(3, 1, async_training(3), script).summary,
             "12 updates (rank 0: 4, rank 1: 4, rank 2: 4); gradients were 1.75 updates old on average, 2 at most; ");
}

// Gradients that are W - 1 updates old allow only smaller rates: descent on a parabola of curvature 1 is stable below
// 2 sin(pi / (2 (2 W - 1))).
TEST(Async, IsStableUpToTheRateThatItsDelayAllows) {
  constexpr int workers = 3;
  const double limit = 2 * std::sin(std::numbers::pi / (2 * (2 * workers - 1)));
  EXPECT_LT(std::abs(descend_in_turns("async", workers, in_turns(workers, 2000), 0.98 * limit)), 0.1);
  EXPECT_GT(std::abs(descend_in_turns("async", workers, in_turns(workers, 2000), 1.02 * limit)), 10);
}

// All gradients are taken at 1; the second is one update old, the third two.
TEST(KnownAnswer, async_aware_divides_the_rate_by_the_age) {
  EXPECT_EQ(descend_in_turns("async", 3, {0, 1, 2}, 0.125), 0.625f);
  EXPECT_EQ(descend_in_turns("async(aware=true)", 3, {0, 1, 2}, 0.125), 0.6875f);
}

// At a rate of 1, gradients that are 3 updates old make descent diverge; a third of it does not.
TEST(Async, AwareOfTheirAgeWorkersMayTakeLargerSteps) {
  EXPECT_GT(std::abs(descend_in_turns("async", 4, in_turns(4, 200), 1)), 10);
  EXPECT_LT(std::abs(descend_in_turns("async(aware=true)", 4, in_turns(4, 200), 1)), 0.1);
}

// With a factor of curvature / gradient^2 = 1 the second gradient, taken at 1, becomes that of the weight as it is:
// each step takes a quarter away.
TEST(KnownAnswer, async_compensated_gradients_are_fresh) {
  EXPECT_EQ(descend_in_turns("async", 2, {0, 1}, 0.25), 0.5f);
  EXPECT_EQ(descend_in_turns("async(compensate=constant, factor=1)", 2, {0, 1}, 0.25), 0.5625f);
  EXPECT_NEAR(descend_in_turns("async(compensate=adaptive, factor=1, memory=0)", 2, {0, 1}, 0.25), 0.5625f, 1e-6);
  // Its own second gradient is fresh anyway.
  EXPECT_EQ(descend_in_turns("async(compensate=constant, factor=1)", 2, {0, 0}, 0.25), 0.5625f);
}

// Two steps of each worker from 1, with updates of their own between: gradients 1 and 3/4, applied together.
TEST(KnownAnswer, async_period_pushes_what_was_gathered) {
  EXPECT_EQ(descend_in_turns("async(period=2)", 2, {0, 1, 0, 1}, 0.25), 1 - 2 * 0.25f * 1.75f);
  // What is left at the end is pushed too.
  EXPECT_EQ(descend_in_turns("async(period=2)", 1, {0, 0, 0}, 0.5), 0.125f);
}

TEST(Async, OneWorkerWithAPeriodIsPlainTrainingToRounding) {
  for (const int period : {1, 2, 3, 7}) {
    Training s = async_training(1, fmt::format("async(servers=2, period={})", period));
    s.optimizer = "sgd";
    s.steps = 6;
    const Outcome served = train_served(1, 2, s);
    s.strategy = "solo";
    EXPECT_LT(distance(served, train(1, s)), 1e-6) << period;
  }
}

TEST(Async, RunningStatisticsAreTheMeanOfTheWorkers) {
  Training s = async_training(2);
  s.moving_norm = true;
  std::map<std::string, std::vector<float>> own[2], mean;
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        if (comm.rank() == 2) return serve(comm, s);
        Trained trained(comm, s);
        trained.strategy().begin(trained.replica(), 0);
        trained.step(1);
        own[comm.rank()] = trained.weights();
        trained.strategy().end(trained.replica());
        if (comm.rank() == 0) mean = trained.weights();
      },
      3);
  for (const char* name : {"norm.mean", "norm.variance"})
    for (std::size_t i = 0; i < mean.at(name).size(); ++i)
      EXPECT_NEAR(mean.at(name)[i], (own[0].at(name)[i] + own[1].at(name)[i]) / 2, 1e-6) << name;
}

TEST(Async, AWishToStopReachesAllWorkers) {
  const Training s = async_training(2);
  std::atomic<std::int64_t> steps[2] = {};
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        if (comm.rank() == 2) return serve(comm, s);
        Trained trained(comm, s);
        trained.strategy().begin(trained.replica(), 0);
        // It ends for the first worker only because the second wants it to.
        for (std::int64_t t = 1; !trained.strategy().stops(comm.rank() == 1 && t > 4); ++t)
          trained.step(t), ++steps[comm.rank()];
        trained.strategy().end(trained.replica());
      },
      3);
  EXPECT_EQ(steps[1], 4);
}

// A worker that dies at its first message, its second, and so on stops nobody.
TEST(Async, ADeadWorkerIsNotMissed) {
  constexpr int steps = 6;
  const Training s = async_training(2, "async(servers=2)");
  bool again = true;
  int died_at_work = 0;
  for (std::int64_t message = 0; again; ++message) {
    SCOPED_TRACE(fmt::format("at message {}", message));
    std::string summary;
    int taken = 0;
    const comm::CrewEnd end = comm::run_crew(
        4, 0,
        [&](comm::Crew& crew, int rank) {
          const auto group = crew.muster([](int available) { return available; });
          if (rank >= 2) return serve(*group, s);
          Trained trained(*group, s);
          trained.strategy().begin(trained.replica(), 0);
          if (rank == 1) group->view()->set_fate(comm::Fate::peer);
          for (int t = 1; t <= steps; ++t) {
            trained.step(t);
            if (rank == 0) ++taken;
          }
          trained.strategy().end(trained.replica());
          if (rank == 0) summary = trained.strategy().summary();
          if (rank == 1) again = false;
        },
        {{.rank = 1, .message = message}}, 4);
    EXPECT_FALSE(end.gave_up);
    EXPECT_EQ(taken, steps);
    EXPECT_EQ(end.died.empty(), !again);
    if (summary.find("until it died") != std::string::npos) ++died_at_work;
    ASSERT_LT(message, 200);
  }
  EXPECT_GT(died_at_work, 10);
}

// All need a server: those that wait for it hear of its death.
TEST(Async, ADeadServerEndsTheGroup) {
  const Training s = async_training(2);
  std::atomic<int> told = 0;
  const comm::CrewEnd end = comm::run_crew(
      3, 0,
      [&](comm::Crew& crew, int rank) {
        const auto group = crew.muster([](int available) { return available; });
        try {
          if (rank == 2) return serve(*group, s);
          Trained trained(*group, s);
          trained.strategy().begin(trained.replica(), 0);
          if (rank == 1) group->view()->set_fate(comm::Fate::peer);
          for (int t = 1;; ++t) trained.step(t);
        } catch (const comm::MembersChanged&) {
          ++told;
        }
      },
      {{.rank = 2, .message = 20}}, 3);
  EXPECT_EQ(end.died, std::vector{2});
  EXPECT_EQ(told, 2);
}

// What 'isobar plan --ranks' says of a worker is what it sends.
TEST(Async, AWorkerSendsWhatIsPlanned) {
  Training s = async_training(1, "async(servers=2)");
  s.moving_norm = true;
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        if (comm.rank() > 0) return serve(comm, s);
        Trained trained(comm, s);
        Strategy& strategy = trained.strategy();
        strategy.begin(trained.replica(), 0);
        const std::vector<exec::GradientPlace> places = trained.replica().places();
        const StepNeeds planned = strategy.needs({.circle = comm.group(), .places = places});
        for (std::int64_t t = 1; t <= 3; ++t) {
          const comm::Traffic before = strategy.cost().traffic;
          trained.step(t);
          const comm::Traffic after = strategy.cost().traffic;
          EXPECT_EQ(after.bytes - before.bytes, planned.traffic.bytes);
          EXPECT_LE(after.messages - before.messages, planned.traffic.messages);
        }
        strategy.end(trained.replica());
      },
      3);
}

TEST(Async, ParametersAreDealtBySize) {
  const auto dealt = [](const std::vector<std::uint64_t>& sizes, int servers) {
    std::vector<ServedParameter> parameters;
    for (const std::uint64_t size : sizes) parameters.push_back({.count = size});
    return deal_by_size(parameters, servers);
  };
  EXPECT_EQ(dealt({5, 3, 3, 2, 1}, 2), (std::vector{0, 1, 1, 0, 1}));
  EXPECT_EQ(dealt({1, 9, 4, 4}, 3), (std::vector{1, 0, 1, 2}));
  EXPECT_EQ(dealt({7, 7}, 1), (std::vector{0, 0}));
}

TEST(Async, RefusesWhatCannotBe) {
  EXPECT_HAS(error_of([] { make(strategies(), "async(codec=bf16)", "strategy"); }), "codec must be float");
  EXPECT_HAS(error_of([] { make(strategies(), "async(servers=0)", "strategy"); }), "servers must lie between 1 and");
  EXPECT_HAS(error_of([] { make(strategies(), "async(deterministic=true)", "strategy"); }),
             "deterministic needs gradients that ranks add up among themselves");
  EXPECT_HAS(error_of([] { make(strategies(), "async(period=0)", "strategy"); }), "period must lie between 1 and");
  EXPECT_HAS(error_of([] { make(strategies(), "async(compensate=some)", "strategy"); }), "none, constant, adaptive");
  const auto two = make(strategies(), "async(servers=2)", "strategy");
  EXPECT_HAS(error_of([&] { two->roles(2); }),
             "strategy 'async' needs 2 ranks to keep the parameters and at least one that trains, but there are 2");
}

}  // namespace
}  // namespace isobar::parallel::trials
