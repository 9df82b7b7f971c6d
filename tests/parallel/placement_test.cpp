#include "isobar/parallel/placement.hpp"

#include <gtest/gtest.h>

#include "isobar/parallel/composition.hpp"

#include "tests/expect_error.hpp"

namespace isobar::parallel {
namespace {

using tests::error_of;

/// A model over several ranks.
class Ways final : public split::Split {
 public:
  explicit Ways(int ways) : ways_(ways) {}
  int ways() const override { return ways_; }
  split::ModelPart cut(graph::Graph whole, int) const override { return {std::move(whole), "some"}; }

 private:
  int ways_;
};

/// Two teams of as many ranks, and a server.
class TwoTeams final : public Strategy {
 public:
  TwoTeams() : Strategy({}) {}
  Roles roles(int ranks) const override {
    Roles roles = Strategy::roles(ranks);
    roles.role.back() = Roles::Role::serves;
    for (int rank = 0; rank < ranks; ++rank) roles.team[rank] = rank < ranks / 2 ? 0 : 1;
    roles.team.back() = -1;
    roles.pace = comm::Pace::bounded;
    return roles;
  }
  std::span<float> open(comm::Comm&, std::size_t, const Care&) override { return {}; }
  double step(Replica&, std::span<const Feed>, const optim::Step&) override { return 0; }
  std::string describe() const override { return "two teams"; }
};

TEST(Placement, AllRanksAreOneTeamUnlessAStrategySaysOtherwise) {
  const auto none = make(split::splits(), "none", "split");
  const auto sync = make(strategies(), "sync", "strategy");
  const std::vector<Placement> all = place(*none, *sync, 3);
  ASSERT_EQ(all.size(), 3u);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(all[rank].role, Roles::Role::trains);
    EXPECT_EQ(all[rank].share, rank);
    EXPECT_EQ(all[rank].shares, 3);
    EXPECT_EQ(all[rank].circles, (std::vector<comm::Circle>{{"team", {0, 1, 2}}}));
  }
  const auto solo = make(strategies(), "solo", "strategy");
  EXPECT_EQ(place(*none, *solo, 1).size(), 1u);
  EXPECT_HAS(error_of([&] { place(*none, *solo, 2); }), "strategy 'solo' exchanges nothing, but there are 2 ranks");
}

TEST(Placement, ReplicasOfSeveralRanksShareTheSamplesOfTheirTeam) {
  const auto sync = make(strategies(), "sync", "strategy");
  const std::vector<Placement> all = place(Ways(2), *sync, 6);
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(all[rank].part, rank % 2);
    EXPECT_EQ(all[rank].share, rank / 2);
    EXPECT_EQ(all[rank].shares, 3);
    ASSERT_EQ(all[rank].circles.size(), 2u);
    EXPECT_EQ(all[rank].circles[1].ranks, (std::vector{rank / 2 * 2, rank / 2 * 2 + 1}));
  }
  EXPECT_HAS(error_of([&] { place(Ways(4), *sync, 6); }), "6 ranks cannot be divided into replicas of 4 ranks each");
}

TEST(Placement, TeamsAndServersDiffer) {
  const std::vector<Placement> all = place(Ways(1), TwoTeams(), 5);
  EXPECT_EQ(all[4].role, Roles::Role::serves);
  const comm::Circle servers{"servers", {0, 1, 2, 3, 4}, comm::Pace::bounded, comm::Fate::world};
  EXPECT_EQ(all[4].circles, std::vector{servers});
  const comm::Circle team{"team", {0, 1}, comm::Pace::lockstep, comm::Fate::world};
  EXPECT_EQ(all[0].circles, (std::vector{team, servers}));
  EXPECT_EQ(all[3].circles[0].ranks, (std::vector{2, 3}));
  EXPECT_EQ(all[3].team, 1);
  EXPECT_EQ(all[3].teams, 2);
  EXPECT_EQ(all[3].share, 3);
  EXPECT_EQ(all[3].shares, 4);
}

std::string read_and_resolved(const char* recipe) {
  Args args(Spec(recipe), "recipe");
  Composition read = read_composition(args);
  make(strategies(), read.strategy, "strategy", &read.strategy);
  record_composition(args, read);
  args.finish();
  return args.resolved().str();
}

TEST(Composition, IsReadFromTheSectionOrFromTheTop) {
  const auto strategy = [](const char* recipe) {
    Args args(Spec(recipe), "recipe");
    return read_composition(args).strategy.str();
  };
  EXPECT_EQ(strategy("recipe"), "sync");
  EXPECT_EQ(strategy("recipe(strategy=lagged(k=2))"), "lagged(k=2)");
  EXPECT_EQ(strategy("recipe(parallel=parallel(strategy=lagged(k=2), codec=bf16))"), "lagged(k=2, codec=bf16)");
  EXPECT_EQ(strategy("recipe(strategy=lagged(k=2), parallel=parallel(codec=topk(share=0.1)))"),
            "lagged(k=2, codec=topk(share=0.1))");
}

// A resolved recipe names everything where the recipe does, and reads the same.
TEST(Composition, IsResolvedWhereItStands) {
  EXPECT_TRUE(read_and_resolved("recipe").starts_with("recipe(parallel=parallel(split=none, strategy=sync("));
  const std::string section = read_and_resolved("recipe(parallel=parallel(codec=bf16))");
  EXPECT_TRUE(section.starts_with("recipe(parallel=parallel(split=none, strategy=sync(")) << section;
  EXPECT_TRUE(section.ends_with("codec=bf16))")) << section;
  EXPECT_EQ(read_and_resolved(section.c_str()), section);
  EXPECT_TRUE(read_and_resolved("recipe(parallel=parallel(strategy=solo))").ends_with("strategy=solo))"));
  const std::string both = read_and_resolved("recipe(strategy=sync(bucket_mb=0), parallel=parallel(codec=bf16))");
  EXPECT_TRUE(both.starts_with("recipe(parallel=parallel(split=none, codec=bf16), strategy=sync(")) << both;
  EXPECT_EQ(read_and_resolved(both.c_str()), both);
}

TEST(Composition, NothingIsNamedTwice) {
  EXPECT_HAS(error_of([] { read_and_resolved("recipe(strategy=sync, parallel=parallel(strategy=sync))"); }),
             "strategy is named at the top of the recipe too");
  EXPECT_HAS(error_of([] { read_and_resolved("recipe(strategy=sync(wire=bf16), parallel=parallel(codec=bf16))"); }),
             "codec is an argument of the strategy too");
  EXPECT_HAS(error_of([] { read_and_resolved("recipe(parallel=parallel(stratgy=sync))"); }), "did you mean 'strategy'");
  EXPECT_HAS(error_of([] { read_and_resolved("recipe(parallel=parallel(strategy=solo, codec=bf16))"); }), "codec");
}

}  // namespace
}  // namespace isobar::parallel
