// Strategy server over threads: what all workers and servers do together is what sync does.
#include "tests/expect_error.hpp"
#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;

constexpr double sums_in_another_order = 2e-5;

Training served_by(int servers) {
  Training s;
  s.strategy = fmt::format("server(servers={})", servers);
  return s;
}

// A sum of two has one order: not a bit may differ, also where the norm is put together from several servers.
TEST(KnownAnswer, server_with_two_workers_is_sync) {
  for (const char* optimizer : {"sgd(momentum=0.9)", "adam"})
    for (const double clip_norm : {0.0, 0.05, 1e6})
      for (const int servers : {1, 2, 3}) {
        SCOPED_TRACE(fmt::format("{}, clip {}, {} servers: server", optimizer, clip_norm, servers));
        Training s = served_by(servers);
        s.optimizer = optimizer;
        s.clip_norm = clip_norm;
        const Outcome served = train_served(2, servers, s);
        s.strategy = "sync";
        const Outcome together = train(2, s);
        EXPECT_EQ(served.weights, together.weights);
        EXPECT_EQ(served.losses, together.losses);
      }
}

TEST(Server, ManyWorkersTrainAsOneWithTheWholeBatch) {
  Training s;
  s.strategy = "solo";
  const Outcome one = train(1, s);
  for (int workers = 1; workers <= 4; ++workers)
    EXPECT_LT(distance(train_served(workers, 2, served_by(2)), one), sums_in_another_order) << workers;
}

TEST(Server, SharesMayBeUnevenAndWorkersWithoutRows) {
  Training s;
  s.strategy = "solo";
  const Outcome one = train(1, s);
  s = served_by(2);
  s.shares = {7, 0, 5};
  EXPECT_LT(distance(train_served(3, 2, s), one), sums_in_another_order);
}

TEST(Server, RunningStatisticsAreThoseOfSync) {
  Training s = served_by(2);
  s.moving_norm = true;
  const Outcome served = train_served(2, 2, s);
  s.strategy = "sync";
  EXPECT_EQ(served.weights, train(2, s).weights);
}

// Gradients that are finite by themselves, with a sum that is not: no weight changes, and all workers learn of it.
class HugeReplica final : public PlainReplica {
 public:
  explicit HugeReplica(std::span<float> given) : PlainReplica({{.numbers = 3}, {.numbers = 2}}, given) {}
  void backward(const Feed&, const std::function<void(int p)>&) override {
    for (const ReplicaParameter& each : parameters()) std::ranges::fill(each.gradient, 1.0f);
    (*this)[1].gradient[0] = 3e38f;
  }
};

TEST(Server, ASumThatIsNotFiniteIsNotApplied) {
  Training s = served_by(2);
  s.optimizer = "sgd";
  std::atomic<int> found = 0;
  comm::run_ranks(
      4,
      [&](comm::Comm& comm) {
        if (comm.rank() >= 2) return serve(comm, s);
        const auto strategy = make(strategies(), s.strategy, "strategy");
        HugeReplica replica(strategy->open(comm, 32, {.whole = true}));
        strategy->begin(replica, 0);
        const Feed feed{{{"x", {}}}, {.rows = 1, .total = 2}};
        try {
          strategy->step(replica, {&feed, 1}, {.index = 1, .learning_rate = 1});
        } catch (const NotFinite& bad) {
          EXPECT_EQ(bad.parameter, 1);
          EXPECT_HAS(bad.what(), "the gradient of 'p1'");
          ++found;
        }
        strategy->end(replica);
        for (const ReplicaParameter& each : replica.parameters())
          for (const float weight : each.weight) EXPECT_EQ(weight, 0);
      },
      4);
  EXPECT_EQ(found, 2);
}

TEST(Server, AWorkerSendsWhatIsPlanned) {
  const Training s = served_by(2);
  comm::run_ranks(
      3,
      [&](comm::Comm& comm) {
        if (comm.rank() > 0) return serve(comm, s);
        Training mine = s;
        mine.shares = {12};
        Trained trained(comm, mine);
        Strategy& strategy = trained.strategy();
        strategy.begin(trained.replica(), 0);
        const std::vector<exec::GradientPlace> places = trained.replica().places();
        const StepNeeds planned = strategy.needs({.places = places, .gradients = trained.replica().gradients().size()});
        const comm::Traffic before = strategy.cost().traffic;
        trained.step(1);
        const comm::Traffic after = strategy.cost().traffic;
        EXPECT_EQ(after.bytes - before.bytes, planned.traffic.bytes);
        EXPECT_EQ(after.messages - before.messages, planned.traffic.messages);
        strategy.end(trained.replica());
      },
      3);
}

TEST(Server, WorkersAreOneTeamInLockstep) {
  const Roles roles = make(strategies(), "server(servers=2)", "strategy")->roles(5);
  EXPECT_EQ(roles.team, (std::vector{0, 0, 0, -1, -1}));
  EXPECT_EQ(roles.pace, comm::Pace::lockstep);
  EXPECT_HAS(error_of([] { make(strategies(), "server", "strategy")->roles(1); }), "strategy 'server' needs 1 rank");
  EXPECT_HAS(error_of([] { make(strategies(), "server(deterministic=true)", "strategy"); }), "deterministic");
}

}  // namespace
}  // namespace isobar::parallel::trials
