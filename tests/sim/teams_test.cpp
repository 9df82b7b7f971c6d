// Teams of ranks, each at its own pace, with one actor for a team: as exact as with one for each rank.
#include <gtest/gtest.h>

#include "isobar/comm/collectives.hpp"
#include "isobar/comm/inbox.hpp"
#include "isobar/sim/flows.hpp"
#include "isobar/sim/in_child.hpp"

#include "tests/expect_error.hpp"
#include "tests/sim/made_scenario.hpp"
#include "tests/sim/row_of_parts.hpp"

namespace isobar::sim {
namespace {

using parallel::Roles;
constexpr int tag = 0;

// Teams of so many ranks and a server. A team sums its gradients as sync does; then its first rank sends them to the
// server, is sent as much, and gives it to the others.
class Teams final : public parallel::Strategy {
 public:
  explicit Teams(int of) : Strategy({.servers = 1}), of_(of) {}

  Roles roles(int ranks) const override {
    Roles roles{.pace = comm::Pace::free};
    for (int rank = 0; rank < ranks; ++rank) {
      roles.role.push_back(rank + 1 < ranks ? Roles::Role::trains : Roles::Role::serves);
      roles.team.push_back(rank + 1 < ranks ? rank / of_ : -1);
    }
    return roles;
  }
  std::span<float> open(comm::Comm& world, std::size_t gradients, const parallel::Care& care) override {
    world_ = duplicate(world);
    weights_ = comm::message_memory(*world_, gradients);
    if (is_server()) return {};
    std::vector<int> team;
    for (int i = 0; i < of_; ++i) team.push_back(world.rank() / of_ * of_ + i);
    team_ = world_->among(team);
    return inner_->open(*team_, gradients, care);
  }
  double step(parallel::Replica& replica, std::span<const parallel::Feed> feeds, const optim::Step& step) override {
    inner_->step(replica, feeds, step);
    if (team_->rank() == 0) {
      world_->send(server(), tag, std::as_bytes(replica.gradients()));
      world_->receive(server(), tag, std::as_writable_bytes(weights_->mine()));
    }
    comm::broadcast(*team_, std::as_writable_bytes(weights_->mine()));
    return 0;
  }
  void end(parallel::Replica&) override {
    char over = 1;
    if (team_->rank() == 0) world_->send(server(), tag + 1, std::as_bytes(std::span(&over, 1)));
  }
  // Teams ask with gradients, or say that they are over.
  void serve(const parallel::ServerSetting&) override {
    const int teams = server() / of_;
    std::vector<comm::Ticket> asked(teams), over(teams);
    std::vector<char> words(teams);
    const auto inbox = comm::make_inbox(*world_);
    const auto listen = [&](int team) {
      asked[team] = world_->start_receive(team * of_, tag, std::as_writable_bytes(weights_->mine()));
      inbox->add(team, asked[team]);
    };
    for (int team = 0; team < teams; ++team) {
      over[team] = world_->start_receive(team * of_, tag + 1, std::as_writable_bytes(std::span(&words[team], 1)));
      inbox->add(teams + team, over[team]);
      listen(team);
    }
    for (int left = teams; left > 0;) {
      const int heard = inbox->next();
      if (heard >= teams) {
        over[heard - teams].wait();
        --left;
        continue;
      }
      asked[heard].wait();
      answers_.push_back(world_->start_send(heard * of_, tag, std::as_bytes(weights_->mine())));
      listen(heard);
    }
    for (comm::Ticket& answer : answers_) answer.wait();
  }
  std::string describe() const override { return "teams"; }

 private:
  int server() const { return world_->size() - 1; }
  bool is_server() const { return world_->rank() == server(); }

  int of_;
  std::unique_ptr<parallel::Strategy> inner_ =
      make(parallel::strategies(), Spec("sync(algorithm=ring, bucket_mb=0)"), "strategy");
  std::unique_ptr<comm::Comm> world_, team_;
  std::unique_ptr<comm::GradientMemory> weights_;
  std::vector<comm::Ticket> answers_;
};

struct Case {
  int teams = 1, of = 1;
  std::vector<Workload> parts{tests::made_workload()};
  double sigma = 0;
  int ranks_per_node = 1;
  int steps = 4;
};

// Seconds until all have taken their steps, on average of the teams.
double seconds(const Case& made, bool as_one) {
  const std::string text = in_child([&] {
    const int ranks = made.teams * made.of + 1;
    const RankNodes placement{ranks, made.ranks_per_node};
    const Platform platform = tests::made_platform(placement.nodes());
    const Topology topology(platform, placement.nodes());
    SumCosts costs(topology, platform, placement);
    const auto placed = parallel::place(static_cast<int>(made.parts.size()), Teams(made.of), ranks);
    std::vector<const Workload*> parts;
    for (const Workload& part : made.parts) parts.push_back(&part);
    const FlowOptions options{.ranks = placed, .teams_as_one = as_one, .parts = parts};
    double sum = 0;
    int actors = 0;
    run_flows(
        topology, platform, placement, Noise({.sigma = made.sigma}, 1), costs, options, [&](const FlowRank& rank) {
          Teams strategy(made.of);
          const auto part = std::span(parts).subspan(static_cast<std::size_t>(placed[rank.rank].part), 1);
          const std::span<float> memory = strategy.open(rank.comm, parts[0]->gradient_numbers(), {.finite = false});
          if (placed[rank.rank].role == Roles::Role::serves) return serve(strategy, *parts[0], 0, rank.timeline);
          const auto own = comm::message_memory(rank.comm, parts[0]->gradient_numbers());
          ReplayedReplica replica(as_one ? std::span(parts) : part, memory.empty() ? own->mine() : memory, 0,
                                  rank.timeline);
          take_steps(strategy, replica, rank.timeline, 1, made.steps, [&](int step) {
            if (step < made.steps) return;
            sum += rank.timeline.now();
            ++actors;
          });
        });
    EXPECT_EQ(actors, made.teams * (as_one ? 1 : made.of));
    return fmt::format("{:.17g}", sum / actors);
  });
  return std::stod(text);
}

// 100 ms of computing, 1 MB of the last gradients that are summed behind it; 3 MB to the server, back, and in two
// messages one after the other to three ranks.
TEST(Teams, OneTeamByHand) {
  const double sum = 2 * 3 * (1e6 / 4 / 1e9 + 2e-6), talk = 2 * (0.003 + 2e-6), given = 2 * 0.003;
  for (const bool as_one : {false, true})
    EXPECT_NEAR(seconds({.teams = 1, .of = 4}, as_one), 4 * (0.1 + sum + talk + given), 1e-4) << as_one;
}

TEST(Teams, AnActorForATeamIsAsExactAsOneForEachRank) {
  for (const auto& [teams, of] : {std::pair(2, 2), std::pair(4, 4), std::pair(2, 8), std::pair(8, 4), std::pair(5, 1)})
    for (const double sigma : {0.0, 0.1}) {
      const Case made{.teams = teams, .of = of, .sigma = sigma, .steps = 8};
      EXPECT_NEAR(seconds(made, true) / seconds(made, false), 1, 0.01)
          << teams << " teams of " << of << ", noise " << sigma;
    }
}

// What the second rank of a node hands on meets what the first sends, 3 ms longer for a step of about 120: an actor for
// a team sees the first only.
TEST(Teams, MayLieOnNodesTogether) {
  const Case made{.teams = 3, .of = 4, .sigma = 0.1, .ranks_per_node = 2, .steps = 8};
  const double as_one = seconds(made, true), each = seconds(made, false);
  EXPECT_LE(as_one, each);
  EXPECT_NEAR(as_one, each - 8 * 0.003, 0.01 * each);
}

// Replicas of three parts, two in each team, whose ends and middles talk differently.
TEST(Teams, MayHaveModelsThatAreCut) {
  const Case made{.teams = 2, .of = 6, .parts = tests::row_of_parts(3, 500'000), .sigma = 0.1, .steps = 8};
  EXPECT_NEAR(seconds(made, true) / seconds(made, false), 1, 0.01);
}

}  // namespace
}  // namespace isobar::sim
