// Strategy groups over threads: teams in lockstep, parameter servers between them.
#include "tests/expect_error.hpp"
#include "tests/parallel/served.hpp"

namespace isobar::parallel::trials {
namespace {

using isobar::tests::error_of;

// So many teams of two ranks, with 3 samples for each rank.
Training pairs(int teams, const std::string& strategy) {
  Training s = async_training(2 * teams, strategy);
  s.total = 6;
  return s;
}

TEST(KnownAnswer, groups_of_all_ranks_are_their_inner_strategy) {
  for (const char* optimizer : {"sgd(momentum=0.9)", "adam"})
    for (const char* servers : {"1", "2", "layer"})
      for (const bool moving_norm : {false, true}) {
        Training s;
        s.optimizer = optimizer;
        s.moving_norm = moving_norm;
        s.clip_norm = 0.1;
        s.strategy = fmt::format("groups(of=2, servers={})", servers);
        SCOPED_TRACE(s.strategy);
        // Layers that are trained: convolution, normalisation and two dense ones.
        const int serving = std::string_view(servers) == "layer" ? 4 : std::stoi(servers);
        const Outcome served = train_served(2, serving, s);
        s.strategy = "sync";
        const Outcome together = train(2, s);
        EXPECT_EQ(served.weights, together.weights);
        EXPECT_EQ(served.losses, together.losses);
      }
}

TEST(Groups, OfOneRankAreWhatIsBetweenThem) {
  const Script script{0, 1, 0, 0, 1, 1, 0};
  const Ended async = run_script(2, 2, async_training(2, "async(servers=2)"), script);
  const Ended solo = run_script(2, 2, async_training(2, "groups(of=1, inner=solo, servers=2)"), script);
  EXPECT_EQ(solo.weights, async.weights);
  EXPECT_EQ(solo.losses, async.losses);
  const Ended sync = run_script(2, 2, async_training(2, "groups(of=1, servers=2)"), script);
  EXPECT_EQ(sync.weights, async.weights);
}

// Two ranks with three samples each are one with six.
TEST(Groups, TeamsExchangeAsSingleRanksWithTheirSamples) {
  const Script script{0, 1, 1, 0, 1, 0, 0};
  for (const char* outer : {"async", "async(period=2)", "async(compensate=constant)", "stale(bound=5)"}) {
    SCOPED_TRACE(outer);
    Training wide;
    wide.strategy = fmt::format("groups(of=1, inner=solo, outer={})", outer);
    wide.shares = {6, 6};
    wide.total = 6;
    wide.optimizer = "sgd";
    const Ended single = run_script(2, 1, wide, script);
    Training s = pairs(2, fmt::format("groups(of=2, outer={})", outer));
    s.optimizer = "sgd";
    const Ended teams = run_script(2, 1, s, script, 2);
    EXPECT_LT(distance(teams.weights, single.weights), 2e-5);
    for (int team = 0; team < 2; ++team)
      for (std::size_t i = 0; i < single.losses[team].size(); ++i)
        EXPECT_NEAR(teams.losses[team][i], single.losses[team][i], 2e-5);
  }
}

// The mean over the samples of all teams is what they would do together.
TEST(Groups, WithServersInLockstepAllTrainTogether) {
  Training together;
  const Outcome expected = train(4, together);
  Training s;
  s.strategy = "groups(of=2, outer=server, servers=2)";
  s.total = 6;
  EXPECT_LT(distance(train_served(4, 2, s).weights, expected.weights), 2e-5);
}

TEST(Groups, AWishToStopReachesAllRanksOfAllTeams) {
  const Training s = pairs(2, "groups(of=2)");
  std::atomic<std::int64_t> steps[4] = {};
  comm::run_ranks(
      5,
      [&](comm::Comm& comm) {
        if (comm.rank() == 4) return serve(comm, s);
        Trained trained(comm, s);
        trained.strategy().begin(trained.replica(), 0);
        for (std::int64_t t = 1; !trained.strategy().stops(comm.rank() >= 2 && t > 4); ++t)
          trained.step(t), ++steps[comm.rank()];
        trained.strategy().end(trained.replica());
      },
      5);
  EXPECT_EQ(steps[2], 4);
  EXPECT_EQ(steps[3], 4);
  EXPECT_EQ(steps[0], steps[1]);
}

TEST(Groups, ARankSendsWhatIsPlanned) {
  const Training s = pairs(1, "groups(of=2, servers=2, inner=sync(algorithm=ring))");
  comm::run_ranks(4, [&](comm::Comm& comm) {
    if (comm.rank() >= 2) return serve(comm, s);
    Trained trained(comm, s);
    Strategy& strategy = trained.strategy();
    strategy.begin(trained.replica(), 0);
    const std::vector<exec::GradientPlace> places = trained.replica().places();
    const comm::Group team{.rank = comm.rank(), .size = 2, .nodes = {0, 1}};
    const std::size_t gradients = trained.replica().gradients().size();
    const comm::Traffic planned = strategy.needs({.circle = team, .places = places, .gradients = gradients}).traffic;
    const comm::Traffic before = strategy.cost().traffic;
    trained.step(1);
    EXPECT_EQ(strategy.cost().traffic.bytes - before.bytes, planned.bytes) << "rank " << comm.rank();
    strategy.end(trained.replica());
  });
}

TEST(Groups, SayWhoIsInWhichTeam) {
  const Roles roles = make(strategies(), "groups(of=2, servers=1)", "strategy")->roles(7);
  EXPECT_EQ(roles.team, (std::vector{0, 0, 1, 1, 2, 2, -1}));
  EXPECT_EQ(roles.pace, comm::Pace::free);
  const auto layered = make(strategies(), "groups(of=2, servers=layer)", "strategy");
  layered->expect_layers(std::vector<std::string>{"a", "b", "c"});
  EXPECT_EQ(layered->traits().servers, 3);
  EXPECT_EQ(layered->roles(7).team, (std::vector{0, 0, 1, 1, -1, -1, -1}));
}

TEST(Groups, RefuseWhatCannotBe) {
  EXPECT_HAS(error_of([] { make(strategies(), "groups(of=2)", "strategy")->roles(4); }),
             "4 ranks without 1 server cannot be divided into teams of 2; valid: 3, 5, 7, ...");
  EXPECT_HAS(error_of([] { make(strategies(), "groups(of=2, inner=lagged)", "strategy"); }),
             "inner = 'lagged' cannot be within groups");
  EXPECT_HAS(error_of([] { make(strategies(), "groups(of=2, inner=async)", "strategy"); }),
             "inner = 'async' cannot be within groups");
  EXPECT_HAS(error_of([] { make(strategies(), "groups(of=2, inner=solo)", "strategy"); }), "strategy 'solo'");
  EXPECT_HAS(error_of([] { make(strategies(), "groups(of=2, outer=sync)", "strategy"); }),
             "outer = 'sync' does not go between groups");
}

}  // namespace
}  // namespace isobar::parallel::trials
