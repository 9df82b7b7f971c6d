#include "isobar/base/random.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace isobar {
namespace {

using Four = std::array<std::uint32_t, 4>;

// The known answers published with Random123.
TEST(Philox, KnownAnswers) {
  constexpr std::uint32_t ones = 0xffffffff;
  static_assert(philox({0, 0, 0, 0}, {0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, IsAPureFunctionOfSeedStreamAndIndex) {
  const Random a(1, 2);
  EXPECT_EQ(a.bits(5), Random(1, 2).bits(5));
  EXPECT_NE(a.bits(5), a.bits(6));
  EXPECT_NE(a.bits(5), Random(1, 3).bits(5));
  EXPECT_NE(a.bits(5), Random(2, 2).bits(5));
  EXPECT_EQ(a.sub(9).bits(0), a.sub(9).bits(0));
  EXPECT_NE(a.sub(9).bits(0), a.sub(10).bits(0));
  EXPECT_NE(a.bits(0), a.bits(std::uint64_t{1} << 32));  // the upper half of the index counts
}

TEST(Random, NeighbouringStreamsDoNotCollide) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed)
    for (std::uint64_t stream = 0; stream < 30; ++stream) seen.insert(Random(seed, stream).bits(0));
  EXPECT_EQ(seen.size(), 900u);
}

TEST(Random, UnitNumbersStayInTheirIntervals) {
  EXPECT_GT(unit_float(0), 0.0f);
  EXPECT_EQ(unit_float(0xffffffff), 1.0f);
  EXPECT_GT(unit_double(0, 0), 0.0);
  EXPECT_LT(unit_double(0xffffffff, 0xffffffff), 1.0);
}

TEST(Random, UniformIsUniform) {
  const Random random(3);
  constexpr int draws = 100000, bins = 50;
  std::array<int, bins> count{};
  double sum = 0, lag = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = random.uniform(static_cast<std::uint64_t>(i));
    ++count[static_cast<std::size_t>(u * bins)];
    sum += u;
    lag += (u - 0.5) * (random.uniform(static_cast<std::uint64_t>(i) + 1) - 0.5);
  }
  EXPECT_NEAR(sum / draws, 0.5, 5 * std::sqrt(1.0 / 12 / draws));
  EXPECT_NEAR(lag / draws, 0, 5.0 / 12 / std::sqrt(draws));
  double chi_squared = 0;  // 49 degrees of freedom: above 100 once in 30,000 fair generators
  for (const int c : count) chi_squared += std::pow(c - draws / bins, 2) / (draws / bins);
  EXPECT_LT(chi_squared, 100);
}

TEST(Random, NormalIsNormal) {
  const Random random(4);
  constexpr int pairs = 50000;
  std::array<double, 5> moment{};
  double cross = 0;
  int beyond_two = 0;
  for (int i = 0; i < pairs; ++i) {
    const auto z = random.normal_pair(static_cast<std::uint64_t>(i));
    cross += z[0] * z[1];
    for (const double x : z) {
      for (int k = 1; k <= 4; ++k) moment[static_cast<std::size_t>(k)] += std::pow(x, k) / (2 * pairs);
      beyond_two += std::abs(x) > 2;
    }
  }
  EXPECT_NEAR(moment[1], 0, 0.016);  // five standard errors each
  EXPECT_NEAR(moment[2], 1, 0.023);
  EXPECT_NEAR(moment[3], 0, 0.062);
  EXPECT_NEAR(moment[4], 3, 0.16);
  EXPECT_NEAR(cross / pairs, 0, 0.023);
  EXPECT_NEAR(beyond_two / (2.0 * pairs), 0.0455, 0.0033);
}

TEST(Random, BelowCoversItsRangeEvenly) {
  const Random random(5);
  std::array<int, 7> count{};
  for (std::uint64_t i = 0; i < 70000; ++i) {
    const std::uint64_t n = random.below(i, 7);
    ASSERT_LT(n, 7u);
    ++count[n];
  }
  for (const int c : count) EXPECT_NEAR(c, 10000, 500);
  EXPECT_EQ(random.below(0, 1), 0u);
}

}  // namespace
}  // namespace isobar
