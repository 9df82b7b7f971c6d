// Strategy stale over threads: how far a quick worker gets ahead of a slow one, and what it comes to.
#include <numbers>

#include "tests/expect_error.hpp"
#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;

// Each of two workers has half of the batch, and its loss is the mean over that.
Training half_each(const std::string& strategy) {
  Training s;
  s.strategy = strategy;
  s.shares = {6, 6};
  s.total = 6;
  s.optimizer = "sgd";
  return s;
}

TEST(KnownAnswer, stale_without_slack_is_sync) {
  Training together;
  together.optimizer = "sgd";
  const Outcome expected = train(2, together);
  for (const int servers : {1, 2}) {
    const Training s = half_each(fmt::format("stale(bound=0, servers={})", servers));
    EXPECT_LT(distance(train_served(2, servers, s).weights, expected.weights), 2e-6);
  }
  EXPECT_EQ(descend_in_turns("stale(bound=0)", 1, {0, 0}, 0.5), 0.25f);
}

TEST(Stale, OneWorkerIsPlainTraining) {
  for (const int bound : {0, 1, 5})
    for (const char* optimizer : {"sgd(momentum=0.9)", "adam"}) {
      Training s;
      s.optimizer = optimizer;
      s.strategy = fmt::format("stale(bound={})", bound);
      const Outcome served = train_served(1, 1, s);
      s.strategy = "solo";
      const Outcome alone = train(1, s);
      EXPECT_EQ(served.weights, alone.weights);
      EXPECT_EQ(served.losses, alone.losses);
    }
}

// Both push a gradient of 1 at half of the rate.
TEST(KnownAnswer, stale_divides_the_rate_by_the_workers) {
  EXPECT_EQ(descend_in_turns("stale(bound=1)", 2, {0, 1}, 0.5), 0.5f);
}

// Workers that take turns have gradients that are W - 1 updates old, each at a part of the rate.
TEST(Stale, IsStableUpToTheRateThatItsDelayAllows) {
  constexpr int workers = 3;
  const double limit = workers * 2 * std::sin(std::numbers::pi / (2 * (2 * workers - 1)));
  const Script script = in_turns(workers, 2000);
  EXPECT_LT(std::abs(descend_in_turns("stale(bound=1)", workers, script, 0.98 * limit)), 0.1);
  EXPECT_GT(std::abs(descend_in_turns("stale(bound=1)", workers, script, 1.02 * limit)), 10);
}

/// Tells when it begins a step, with the weights that it has read, and waits before it ends one.
class WatchedReplica final : public PlainReplica {
 public:
  explicit WatchedReplica(std::function<void()> begins, std::function<void()> ends)
      : PlainReplica(std::vector<DeclaredPlainly>{{.numbers = 1}}),
        begins_(std::move(begins)),
        ends_(std::move(ends)) {}
  double forward(const Feed&) override { return begins_(), 0; }
  void backward(const Feed&, const std::function<void(int p)>&) override { ends_(); }

 private:
  std::function<void()> begins_, ends_;
};

// A slow worker ends no step before the quick one has come as far as it can: exactly `bound` steps ahead.
TEST(Stale, AQuickWorkerIsAheadByTheBoundAndNoMore) {
  for (const int bound : {0, 1, 3}) {
    constexpr int steps = 12;
    Training s;
    s.strategy = fmt::format("stale(bound={})", bound);
    s.optimizer = "sgd";
    std::atomic<int> begun = 0, pushed = 0, largest = 0;  // steps of the quick one, and of the slow one
    comm::run_ranks(
        3,
        [&](comm::Comm& comm) {
          if (comm.rank() == 2) return serve(comm, s);
          const bool quick = comm.rank() == 1;
          WatchedReplica replica(
              [&] {
                if (quick) largest = std::max<int>(largest, begun++ - pushed);
              },
              [&] {
                if (quick) return;
                for (; begun < std::min(steps, pushed + bound + 1); std::this_thread::yield()) comm.check();
                for (int look = 0; look < 100; ++look) std::this_thread::yield();  // would it come further?
                ++pushed;
              });
          const auto strategy = make(strategies(), s.strategy, "strategy");
          strategy->open(comm, replica.gradients().size(), {});
          strategy->begin(replica, 0);
          const Feed feed{{{"x", {}}}, {.rows = 1, .total = 1}};
          for (int t = 1; t <= steps; ++t) strategy->step(replica, {&feed, 1}, {.index = t, .learning_rate = 0});
          strategy->end(replica);
        },
        3);
    EXPECT_EQ(largest, bound);
  }
}

// The others would wait for it forever if its clock still counted.
TEST(Stale, ADeadWorkerHoldsNobodyBack) {
  constexpr int steps = 6;
  Training s = async_training(3, "stale(bound=1, servers=2)");
  bool again = true;
  for (std::int64_t message = 0; again; message += 3) {
    SCOPED_TRACE(fmt::format("at message {}", message));
    std::atomic<int> taken = 0;
    const comm::CrewEnd end = comm::run_crew(
        5, 0,
        [&](comm::Crew& crew, int rank) {
          const auto group = crew.muster([](int available) { return available; });
          if (rank >= 3) return serve(*group, s);
          Trained trained(*group, s);
          trained.strategy().begin(trained.replica(), 0);
          if (rank > 0) group->view()->set_fate(comm::Fate::peer);
          for (int t = 1; t <= steps; ++t) {
            trained.step(t);
            if (rank != 1) ++taken;
          }
          trained.strategy().end(trained.replica());
          if (rank == 1) again = false;
        },
        {{.rank = 1, .message = message}}, 5);
    EXPECT_FALSE(end.gave_up);
    EXPECT_EQ(taken, 2 * steps);
    ASSERT_LT(message, 200);
  }
}

TEST(Stale, AWishToStopReachesWorkersThatWait) {
  const Training s = async_training(2, "stale(bound=2)");
  std::atomic<std::int64_t> steps[2] = {};
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        if (comm.rank() == 2) return serve(comm, s);
        Trained trained(comm, s);
        trained.strategy().begin(trained.replica(), 0);
        for (std::int64_t t = 1; !trained.strategy().stops(comm.rank() == 1 && t > 4); ++t)
          trained.step(t), ++steps[comm.rank()];
        trained.strategy().end(trained.replica());
      },
      3);
  EXPECT_EQ(steps[1], 4);
  EXPECT_LE(steps[0], 4 + 2 + 1);
}

TEST(Stale, RefusesWhatCannotBe) {
  EXPECT_HAS(error_of([] { make(strategies(), "stale(bound=-1)", "strategy"); }), "bound must lie between 0 and");
  const auto stale = make(strategies(), "stale", "strategy");
  EXPECT_EQ(stale->roles(3).pace, comm::Pace::bounded);
  EXPECT_HAS(error_of([&] { stale->roles(1); }), "strategy 'stale' needs 1 rank to keep the parameters");
}

}  // namespace
}  // namespace isobar::parallel::trials
