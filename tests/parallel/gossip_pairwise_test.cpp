// gossip in pairs over threads. The tests decide in which order ranks take their steps, so that what must come out is
// known; others let them run freely and look at what holds at any pace.
#include <numeric>

#include "tests/expect_error.hpp"
#include "tests/parallel/descents_apart.hpp"
#include "tests/parallel/forwarding_replica.hpp"
#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;
using Weights = std::vector<float>;

const char* const in_pairs = "gossip(kind=pairwise)";

// Notes where gradients are taken, and by how much updates change the weight.
class MovingReplica final : public ForwardingReplica {
 public:
  explicit MovingReplica(QuadraticReplica& whole) : ForwardingReplica(whole), whole_weight_(whole.weight()) {}
  double forward(const Feed& feed) override {
    seen.push_back(whole_weight_);
    return ForwardingReplica::forward(feed);
  }
  void update(int p, std::span<const float> gradient, const optim::Step& step) override {
    const float before = whole_weight_;
    ForwardingReplica::update(p, gradient, step);
    moved += static_cast<double>(whole_weight_) - before;
  }

  Weights seen;
  double moved = 0;

 private:
  float& whole_weight_;
};

struct PairsApart {
  std::string strategy;
  Weights begin, curvatures;  ///< of each rank
  double rate = 0.25;
  Script script{};  ///< who takes the next step; empty: all take `steps`, as they like
  int steps = 0;
};

struct PairsCourse {
  std::vector<Weights> seen;  ///< by each rank, at its gradients
  std::vector<double> moved;  ///< by the updates of each rank
  Weights ends;               ///< the weight of each rank; of the first the mean
};

PairsCourse descend_in_pairs(const PairsApart& descent) {
  const std::size_t ranks = descent.begin.size();
  PairsCourse course{std::vector<Weights>(ranks), std::vector<double>(ranks), Weights(ranks)};
  std::atomic<std::size_t> turn = 0;
  comm::run_ranks(static_cast<int>(ranks), [&](comm::Comm& comm) {
    const auto rank = static_cast<std::size_t>(comm.rank());
    const auto strategy = make(strategies(), descent.strategy, "strategy");
    QuadraticReplica replica(strategy->open(comm, 16, {}));
    replica.weight() = descent.begin[rank];
    MovingReplica watched(replica);
    strategy->begin(watched, 0);
    const Feed feed{{{"h", std::span(descent.curvatures).subspan(rank, 1)}}, {.rows = 1, .total = 1}};
    std::int64_t taken = 0;
    const auto step = [&] { strategy->step(watched, {&feed, 1}, {++taken, descent.rate}); };
    for (std::size_t i = 0; i < descent.script.size(); ++i) {
      if (descent.script[i] != comm.rank()) continue;
      for (; turn != i; std::this_thread::yield()) comm.check();
      step();
      ++turn;
    }
    for (int t = 0; t < descent.steps; ++t) step();
    strategy->end(watched);
    course.seen[rank] = watched.seen;
    course.moved[rank] = watched.moved;
    course.ends[rank] = replica.weight();
  });
  return course;
}

double sum_of(const auto& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

// Of two that take turns, both see after every step what sync does.
TEST(KnownAnswer, gossip_in_pairs_of_two_in_lockstep_is_sync) {
  const Weights sync = descend({"sync", {{1}, {3}}});  // the last is the end
  const PairsCourse course = descend_in_pairs({"gossip(kind=pairwise)", {1, 1}, {1, 3}, 0.25, in_turns(2, 8)});
  for (const Weights& seen : course.seen) {
    ASSERT_EQ(seen.size(), 4u);
    EXPECT_EQ(seen[0], 1);
    for (int t = 1; t < 4; ++t) EXPECT_NEAR(seen[t], sync[t - 1], 1e-7);
  }
  EXPECT_NEAR(course.ends[0], sync.back(), 1e-7);
}

// The one who is asked meets two in its next step; each takes the mean with what the one before has left.
TEST(KnownAnswer, gossip_in_pairs_meets_one_after_the_other) {
  PairsApart descent{"gossip(kind=pairwise)", {8, 0, 0, 4}, {1, 1, 1, 1}, 0, {1, 0, 1, 1}};
  // Rank 1 meets 0 or 2, as it is drawn; rank 3 takes no step.
  const PairsCourse course = descend_in_pairs(descent);
  EXPECT_EQ(course.seen[1][0], 0);
  EXPECT_TRUE(course.seen[1][1] == 4 || course.seen[1][1] == 0) << course.seen[1][1];
  EXPECT_EQ(course.ends[0], 3);  // the mean of all
}

// At any pace, the mean of all models moves by the mean of all updates.
TEST(KnownAnswer, gossip_in_pairs_keeps_the_mean_of_all) {
  for (const int ranks : {2, 3, 5, 6}) {
    Weights begin, curvatures;
    for (int rank = 0; rank < ranks; ++rank) {
      begin.push_back(static_cast<float>(rank));
      curvatures.push_back(1 + 0.25f * static_cast<float>(rank));
    }
    const PairsCourse still = descend_in_pairs({"gossip(kind=pairwise)", begin, curvatures, 0, {}, 40});
    EXPECT_NEAR(still.ends[0], (ranks - 1) / 2.0, 1e-5) << ranks;
    const PairsCourse course = descend_in_pairs({"gossip(kind=pairwise)", begin, curvatures, 0.125, {}, 40});
    EXPECT_NEAR(course.ends[0], (sum_of(begin) + sum_of(course.moved)) / ranks, 1e-5) << ranks;
  }
}

TEST(KnownAnswer, gossip_in_pairs_agrees) {
  const PairsCourse course =
      descend_in_pairs({"gossip(kind=pairwise)", {0, 1, 2, 3, 4, 5}, Weights(6, 1), 0, in_turns(6, 6 * 80)});
  for (const Weights& seen : course.seen) EXPECT_NEAR(seen.back(), 2.5, 1e-2);
  const PairsCourse seldom =
      descend_in_pairs({"gossip(kind=pairwise, period=4)", {0, 1, 2, 3, 4, 5}, Weights(6, 1), 0, in_turns(6, 6 * 160)});
  for (const Weights& seen : seldom.seen) EXPECT_NEAR(seen.back(), 2.5, 0.3);
}

// Rank 1 takes a hundred steps although both that it can meet take none before.
TEST(GossipInPairs, NobodyWaitsForAnother) {
  for (const int quick : {0, 1, 2}) {
    Script script(100, quick);
    for (const int rank : {0, 1, 2}) script.push_back(rank);
    const PairsCourse course = descend_in_pairs({in_pairs, {1, 1, 1}, {1, 1, 1}, 0.125, script});
    EXPECT_EQ(course.seen[quick].size(), 101u);
  }
}

TEST(GossipInPairs, ARankAloneTrainsAsSolo) {
  Training s;
  s.optimizer = "adam";
  s.moving_norm = true;
  s.clip_norm = 0.3;
  s.strategy = "solo";
  const Outcome solo = train(1, s);
  s.strategy = in_pairs;
  const Outcome pairs = train_served(1, 0, s);
  EXPECT_EQ(pairs.weights, solo.weights);
  EXPECT_EQ(pairs.losses, solo.losses);
}

// Each rank its own steps, micro-batches and norm; the first ends with the mean, statistics too.
TEST(GossipInPairs, TheFirstRankEndsWithTheMean) {
  for (const int ranks : {2, 3, 4}) {
    Training s = async_training(ranks, in_pairs);
    s.moving_norm = true;
    s.micro = 2;
    s.shares.assign(2 * ranks, 3);
    std::vector<WeightsByName> own(ranks), ends(ranks);
    std::atomic<int> through = 0;
    comm::run_ranks(ranks, [&](comm::Comm& comm) {
      Trained trained(comm, s);
      trained.strategy().begin(trained.replica(), 0);
      for (int t = 1; t <= 5; ++t) trained.step(t);
      own[comm.rank()] = trained.weights();
      for (++through; through < ranks; std::this_thread::yield()) comm.check();
      trained.strategy().end(trained.replica());
      ends[comm.rank()] = trained.weights();
    });
    for (const auto& [name, values] : ends[0])
      for (std::size_t i = 0; i < values.size(); ++i) {
        double sum = 0;
        for (int rank = 0; rank < ranks; ++rank) sum += own[rank].at(name)[i];
        // Between the last step and the end only the sum stays what it is, up to what was under way.
        if (name == "norm.mean" || name == "norm.variance") {
          EXPECT_NEAR(values[i], sum / ranks, 1e-5) << name;
        }
      }
  }
}

// A look at the mean changes nothing in the first rank's training, however often.
TEST(GossipInPairs, TheFirstRankGoesOnFromItsOwn) {
  for (const bool looks : {false, true}) {
    Weights seen;
    comm::run_ranks(2, [&](comm::Comm& comm) {
      const auto strategy = make(strategies(), "gossip(kind=pairwise, period=1000)", "strategy");
      QuadraticReplica replica(strategy->open(comm, 16, {}));
      replica.weight() = comm.rank() == 0 ? 1 : 3;
      strategy->begin(replica, 0);
      const Weights h{1};
      const Feed feed{{{"h", h}}, {.rows = 1, .total = 1}};
      for (int t = 1; t <= 4; ++t) {
        strategy->step(replica, {&feed, 1}, {t, comm.rank() == 0 ? 0.5 : 0});
        if (comm.rank() > 0) continue;
        seen.push_back(replica.weight());
        if (!looks) continue;
        for (int again = 0; again < 2; ++again) {
          strategy->settle(replica, Settle::sums);
          strategy->settle(replica, Settle::judged);
          EXPECT_EQ(replica.weight(), (seen.back() + 3) / 2);
        }
      }
      strategy->end(replica);
      if (comm.rank() == 0) {
        EXPECT_EQ(replica.weight(), (0.0625f + 3) / 2);
      }
    });
    EXPECT_EQ(seen, (Weights{0.5f, 0.25f, 0.125f, 0.0625f}));
  }
}

TEST(GossipInPairs, AWishToStopReachesAll) {
  for (const int who : {0, 1, 2, 3}) {
    const Training s = async_training(4, in_pairs);
    std::atomic<std::int64_t> steps[4] = {};
    comm::run_ranks(4, [&](comm::Comm& comm) {
      Trained trained(comm, s);
      trained.strategy().begin(trained.replica(), 0);
      for (std::int64_t t = 1; !trained.strategy().stops(comm.rank() == who && t > 4); ++t)
        trained.step(t), ++steps[comm.rank()];
      trained.strategy().end(trained.replica());
    });
    EXPECT_EQ(steps[who], 4);
  }
}

// A rank that dies at its first message, its second, and so on stops nobody.
TEST(GossipInPairs, ADeadRankIsNotMissed) {
  constexpr int steps = 6;
  const Training s = async_training(4, in_pairs);
  for (const int dying : {1, 2}) {
    bool again = true;
    for (std::int64_t message = 0; again; ++message) {
      SCOPED_TRACE(fmt::format("rank {} at message {}", dying, message));
      std::atomic<int> taken = 0, ended = 0;
      const comm::CrewEnd end = comm::run_crew(
          4, 0,
          [&](comm::Crew& crew, int rank) {
            const auto group = crew.muster([](int available) { return available; });
            Trained trained(*group, s);
            if (rank > 0) group->view()->set_fate(comm::Fate::peer);
            trained.strategy().begin(trained.replica(), 0);
            for (int t = 1; t <= steps; ++t) {
              trained.step(t);
              if (rank == 0) ++taken;
            }
            trained.strategy().end(trained.replica());
            ++ended;
            if (rank == dying) again = false;
          },
          {{.rank = dying, .message = message}}, 4);
      EXPECT_FALSE(end.gave_up);
      EXPECT_EQ(taken, steps);
      EXPECT_EQ(ended, again ? 3 : 4);
      ASSERT_LT(message, 400);
    }
  }
}

// Bad numbers are met by the rank that has them, and nothing has changed there.
TEST(GossipInPairs, BadNumbersAreMetByTheirRank) {
  comm::run_ranks(2, [&](comm::Comm& comm) {
    Training s = async_training(2, "gossip(kind=pairwise, period=1000)");
    s.care.whole = true;
    Trained trained(comm, s);
    trained.strategy().begin(trained.replica(), 0);
    trained.step(1);
    const auto before = trained.weights();
    Dealt dealt = trained.deal(2);
    if (comm.rank() == 1) {
      dealt.x[0][0] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_THROW(trained.strategy().step(trained.replica(), dealt.feeds, step_number(2, s)), NotFinite);
      EXPECT_EQ(trained.weights(), before);
    }
    trained.step(3);
    trained.strategy().end(trained.replica());
    for (const auto& [name, values] : trained.weights())
      for (const float value : values) EXPECT_TRUE(std::isfinite(value)) << name;
  });
}

TEST(GossipInPairs, RanksAreTeamsOfTheirOwn) {
  const auto strategy = make(strategies(), in_pairs, "strategy");
  const std::vector<Placement> placed = place(1, *strategy, 3);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(placed[rank].team, rank);
    EXPECT_EQ(placed[rank].teams, 3);
    EXPECT_EQ(placed[rank].share, rank);
    ASSERT_EQ(placed[rank].circles.size(), 2u);
    EXPECT_EQ(placed[rank].circles[1], (comm::Circle{"peers", {0, 1, 2}, comm::Pace::free, comm::Fate::peer}));
  }
}

TEST(GossipInPairs, RefusesWhatCannotBe) {
  EXPECT_HAS(error_of([] { make(strategies(), "gossip(kind=pairwise, codec=bf16)", "strategy"); }), "must be float");
  EXPECT_HAS(error_of([] { make(strategies(), "gossip(kind=pairwise, deterministic=true)", "strategy"); }),
             "each goes at its own pace");
  EXPECT_HAS(error_of([] { make(strategies(), "gossip(kind=pair)", "strategy"); }),
             "exponential, pairwise, pull, push, ring");
  EXPECT_HAS(error_of([] { place(2, *make(strategies(), in_pairs, "strategy"), 4); }),
             "every rank trains a whole model");
}

}  // namespace
}  // namespace isobar::parallel::trials
