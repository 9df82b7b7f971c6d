#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

std::vector<float> pool_listed(std::span<const float> s) { return {s.begin(), s.end()}; }

TEST(MaxPool, ByHand) {
  Direct pool("max_pool", {{1, 5, 1}});
  std::ranges::copy(std::vector{3.f, 1.f, -5.f, -4.f, 9.f}, pool.x(0).begin());
  pool.forward();
  EXPECT_EQ(pool_listed(pool.y()), (std::vector{3.f, -4.f}));
  std::ranges::copy(std::vector{10.f, 20.f}, pool.dy().begin());
  pool.backward();
  EXPECT_EQ(pool_listed(pool.dx(0)), (std::vector{10.f, 0.f, 0.f, 20.f, 0.f}));
  EXPECT_TRUE(pool.intact());
}

// Padding is never the maximum, not even among negative numbers.
TEST(MaxPool, PaddingIsNotZero) {
  Direct pool("max_pool(window=3, stride=2, padding=1)", {{1, 3, 1}});
  std::ranges::copy(std::vector{-3.f, -2.f, -1.f}, pool.x(0).begin());
  pool.forward();
  EXPECT_EQ(pool_listed(pool.y()), (std::vector{-2.f, -1.f}));
}

// The place of the maximum is found before the function is applied, even where the function is flat.
TEST(MaxPool, AbsorbedFunctionKeepsThePlace) {
  Direct pool("max_pool", {{1, 4, 1}});
  pool.op = pool.op->absorb(*make_operator("leaky_relu(slope=0.5)")->pointwise());
  ASSERT_NE(pool.op, nullptr);
  std::ranges::copy(std::vector{-4.f, -2.f, 6.f, 5.f}, pool.x(0).begin());
  pool.forward();
  EXPECT_EQ(pool_listed(pool.y()), (std::vector{-1.f, 6.f}));
  std::ranges::copy(std::vector{10.f, 20.f}, pool.dy().begin());
  pool.backward();
  EXPECT_EQ(pool_listed(pool.dx(0)), (std::vector{0.f, 5.f, 20.f, 0.f}));
}

TEST(MaxPool, InferenceSavesNothing) {
  Direct pool("max_pool", {{1, 4, 4, 2}});
  EXPECT_EQ(pool.op->forward({cpu_engine(), Phase::training}, pool.in).writes.size(), 2u);
  EXPECT_EQ(pool.op->forward({cpu_engine(), Phase::inference}, pool.in).writes.size(), 1u);
}

TEST(AveragePool, PaddingCountsOnlyWhenAsked) {
  for (const bool include : {false, true}) {
    Direct pool(include ? "average_pool(padding=1, include_padding=true)" : "average_pool(padding=1)", {{1, 2, 1}});
    std::ranges::copy(std::vector{3.f, 5.f}, pool.x(0).begin());
    pool.forward();
    EXPECT_EQ(pool_listed(pool.y()), include ? (std::vector{1.5f, 2.5f}) : (std::vector{3.f, 5.f}));
  }
}

TEST(Pool, RefusesPaddingAsWideAsTheWindow) {
  const std::string message = failure([] { Direct("max_pool(window=2, padding=2)", {{1, 4, 1}}); });
  EXPECT_EQ(message, "padding 2 and 2 on axis 1 must be smaller than the window of 2");
}

TEST(GlobalPool, MaxTakesTheFirstOfEqualNumbers) {
  Direct pool("global_pool(kind=max)", {{1, 3, 2}});
  std::ranges::copy(std::vector{1.f, 7.f, 4.f, 7.f, 4.f, 2.f}, pool.x(0).begin());
  pool.forward();
  EXPECT_EQ(pool_listed(pool.y()), (std::vector{4.f, 7.f}));
  std::ranges::copy(std::vector{10.f, 20.f}, pool.dy().begin());
  pool.backward();
  EXPECT_EQ(pool_listed(pool.dx(0)), (std::vector{0.f, 20.f, 10.f, 0.f, 0.f, 0.f}));
  EXPECT_TRUE(pool.intact());
}

TEST(GlobalPool, RefusesWhatHasNoPositions) {
  EXPECT_NE(failure([] { Direct("global_pool", {{2, 4}}); }).find("[batch, spatial..., channels]"), std::string::npos);
  EXPECT_THROW(make_operator("global_pool(kind=median)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
