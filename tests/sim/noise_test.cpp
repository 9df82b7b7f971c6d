#include "isobar/sim/noise.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::sim {
namespace {

TEST(Noise, FactorsAverageToOneAndSpreadBySigma) {
  const Noise noise({.sigma = 0.1}, 7);
  double sum = 0, squares = 0;
  const int count = 20000;
  for (int rank = 0; rank < count; ++rank) {
    const double factor = noise.factor(3, rank);
    sum += factor;
    squares += std::log(factor) * std::log(factor);
  }
  EXPECT_NEAR(sum / count, 1, 0.003);
  EXPECT_NEAR(std::sqrt(squares / count), 0.1, 0.005);
}

TEST(Noise, DependsOnSeedStepAndRankAlone) {
  const Noise noise({.sigma = 0.1}, 7), same({.sigma = 0.1}, 7), other({.sigma = 0.1}, 8);
  EXPECT_EQ(noise.factor(1, 2), same.factor(1, 2));
  EXPECT_NE(noise.factor(1, 2), noise.factor(2, 2));
  EXPECT_NE(noise.factor(1, 2), noise.factor(1, 3));
  EXPECT_NE(noise.factor(1, 2), other.factor(1, 2));
}

TEST(Noise, RanksAreLateAsOftenAsSaid) {
  const Noise noise({.straggler_probability = 0.01, .straggler_seconds = 0.5}, 1);
  int late = 0;
  for (int rank = 0; rank < 20000; ++rank) {
    const double delay = noise.delay(1, rank);
    EXPECT_TRUE(delay == 0 || delay == 0.5);
    late += delay > 0;
  }
  EXPECT_NEAR(late, 200, 45);
}

TEST(Noise, CanBeLeftOut) {
  const Noise none({.sigma = 0.1, .straggler_probability = 1, .straggler_seconds = 1}, 1, false);
  EXPECT_EQ(none.factor(1, 1), 1);
  EXPECT_EQ(none.delay(1, 1), 0);
}

}  // namespace
}  // namespace isobar::sim
