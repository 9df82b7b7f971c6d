// gossip on a model of one weight: rates of consensus, exact means, partners that fit together.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "isobar/parallel/gossip_partners.hpp"

#include "tests/parallel/descents_apart.hpp"

namespace isobar::parallel::trials {
namespace {

using Weights = std::vector<float>;

TEST(GossipPartners, FitTogether) {
  for (const GossipKind& kind : gossip_kinds())
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (std::int64_t round = 0; round < 20; ++round) {
        SCOPED_TRACE(fmt::format("{}, {} ranks, round {}", kind.name, ranks, round));
        std::vector<std::pair<int, int>> sent, received;
        for (int rank = 0; rank < ranks; ++rank) {
          const Mixing mixing = kind.mixing({rank, ranks, round, 7});
          EXPECT_NEAR(mixing.own + mixing.each * static_cast<double>(mixing.from.size()), 1, 1e-12);
          for (const int to : mixing.to) {
            EXPECT_NE(to, rank);
            sent.emplace_back(rank, to);
          }
          for (const int from : mixing.from) received.emplace_back(from, rank);
        }
        std::ranges::sort(sent), std::ranges::sort(received);
        EXPECT_EQ(sent, received);
        if (ranks > 2) {
          EXPECT_EQ(std::ssize(sent), ranks * kind.sends);
        }
      }
}

TEST(GossipPartners, AreDrawnAnewAndEvenly) {
  std::vector<int> drawn(5);
  for (std::int64_t round = 0; round < 4000; ++round)
    for (const GossipKind& kind : gossip_kinds())
      if (kind.name == std::string_view("pull")) ++drawn[kind.mixing({2, 5, round, 3}).from.at(0)];
  EXPECT_EQ(drawn[2], 0);
  for (const int rank : {0, 1, 3, 4}) EXPECT_NEAR(drawn[rank], 1000, 120);
}

// Two ranks that mix in every step are sync.
TEST(KnownAnswer, gossip_of_two_is_sync) {
  const Weights sync = descend({"sync", {{1}, {3}}});
  for (const GossipKind& kind : gossip_kinds()) {
    SCOPED_TRACE(kind.name);
    if (kind.name == std::string_view("pull") || kind.name == std::string_view("push")) continue;
    const CourseApart course = descend_apart({fmt::format("gossip(kind={})", kind.name), {{1}, {3}}});
    for (int t = 0; t < 4; ++t) {
      EXPECT_NEAR(course.weights[0][t], sync[t], 1e-7);
      EXPECT_NEAR(course.weights[1][t], sync[t], 1e-7);
    }
  }
}

// Three on a ring know each other.
TEST(KnownAnswer, gossip_on_a_ring_of_three_is_sync) {
  const Weights sync = descend({"sync", {{1}, {3}, {2}}});
  const CourseApart course = descend_apart({"gossip(kind=ring)", {{1}, {3}, {2}}});
  for (int t = 0; t < 4; ++t) EXPECT_NEAR(course.weights[1][t], sync[t], 1e-7);
}

// The slowest wave on a ring shrinks by 1/3 + 2/3 cos(2 pi / P) in each round.
TEST(KnownAnswer, gossip_on_a_ring_agrees_at_its_rate) {
  for (const int ranks : {4, 8, 16}) {
    Weights wave;
    for (int rank = 0; rank < ranks; ++rank)
      wave.push_back(static_cast<float>(1 + std::cos(2 * std::numbers::pi * rank / ranks)));
    const double factor = 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / ranks);
    const CourseApart course =
        descend_apart({"gossip(kind=ring)", std::vector<Weights>(ranks, Weights{1}), wave, 0, 5});
    for (int t = 0; t < 5; ++t) {
      EXPECT_NEAR(course.weights[0][t], 1 + std::pow(factor, t + 1), 1e-5) << ranks << " ranks";
      EXPECT_NEAR(course.judged[t], 1, 1e-5);
    }
  }
}

// After log2(P) rounds everyone has the mean.
TEST(KnownAnswer, gossip_by_powers_of_two_has_the_exact_mean) {
  for (const int rounds : {1, 2, 3, 4}) {
    const int ranks = 1 << rounds;
    Weights begin;
    for (int rank = 0; rank < ranks; ++rank) begin.push_back(static_cast<float>(rank));
    const CourseApart course =
        descend_apart({"gossip(kind=exponential)", std::vector<Weights>(ranks, Weights{1}), begin, 0, rounds});
    for (const Weights& of_rank : course.weights) EXPECT_EQ(of_rank.back(), (ranks - 1) / 2.0f);
  }
}

// The mean of all follows the mean of their gradients, whatever the ring does.
TEST(KnownAnswer, gossip_keeps_the_mean_of_all) {
  const std::vector<Weights> curvatures{{1}, {3}, {2}, {0.5f}, {1.5f}};
  const CourseApart course = descend_apart({"gossip(kind=ring)", curvatures, {}, 0.25, 6});
  for (int t = 1; t < 6; ++t) {
    double mean = 0;
    for (std::size_t rank = 0; rank < curvatures.size(); ++rank)
      mean += course.weights[rank][t - 1] * (1 - 0.25 * curvatures[rank][0]) / 5;
    EXPECT_NEAR(course.judged[t], mean, 1e-6);
  }
}

TEST(KnownAnswer, gossip_with_those_drawn_agrees) {
  for (const char* const kind : {"pull", "push"}) {
    const CourseApart course = descend_apart(
        {fmt::format("gossip(kind={})", kind), std::vector<Weights>(6, Weights{1}), {0, 1, 2, 3, 4, 5}, 0, 60});
    for (const Weights& of_rank : course.weights) {
      EXPECT_NEAR(of_rank.back(), course.weights[0].back(), 1e-3) << kind;
      EXPECT_GT(of_rank.back(), 0);
      EXPECT_LT(of_rank.back(), 5);
    }
  }
}

TEST(KnownAnswer, gossip) {
  const CourseApart course = descend_apart({"gossip(kind=ring, period=2)", {{1}, {3}}});
  EXPECT_EQ(course.weights[0], (Weights{0.75f, 0.3125f, 0.234375f, 0.09765625f}));
  EXPECT_EQ(course.weights[1], (Weights{0.25f, 0.3125f, 0.078125f, 0.09765625f}));
}

}  // namespace
}  // namespace isobar::parallel::trials
