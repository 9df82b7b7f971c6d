#include <cmath>

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

std::vector<float> listed(std::span<const float> s) { return {s.begin(), s.end()}; }

// Two channels, the second constant.
Direct small(const char* spec) {
  Direct norm(spec, {{4, 2}});
  std::ranges::copy(std::vector{1.f, 5.f, 3.f, 5.f, 5.f, 5.f, 7.f, 5.f}, norm.x(0).begin());
  std::ranges::fill(norm.x(1), 1.f);
  std::ranges::fill(norm.x(2), 0.f);
  std::ranges::copy(std::vector{10.f, 20.f}, norm.x(3).begin());
  std::ranges::copy(std::vector{2.f, 4.f}, norm.x(4).begin());
  return norm;
}

TEST(BatchNorm, MovesTheRunningStatistics) {
  Direct norm = small("batch_norm(momentum=0.25)");
  norm.forward();
  EXPECT_EQ(listed(norm.x(3)), (std::vector{0.75f * 10 + 0.25f * 4, 0.75f * 20 + 0.25f * 5}));
  EXPECT_FLOAT_EQ(norm.x(4)[0], 0.75f * 2 + 0.25f * 20 / 3);  // Bessel: 20 / (4 - 1)
  EXPECT_FLOAT_EQ(norm.x(4)[1], 0.75f * 4);
  EXPECT_NEAR(norm.y()[0], -3 / std::sqrt(5.0), 1e-5);
  EXPECT_EQ(norm.y()[1], 0);
  Direct biased = small("batch_norm(momentum=0.25, unbiased=false)");
  biased.forward();
  EXPECT_FLOAT_EQ(biased.x(4)[0], 0.75f * 2 + 0.25f * 20 / 4);
  EXPECT_TRUE(norm.intact() && biased.intact());
}

TEST(BatchNorm, InferenceAndFrozenUseAndKeepThem) {
  for (const bool frozen : {false, true}) {
    Direct norm = small(frozen ? "batch_norm(frozen=true)" : "batch_norm");
    if (!frozen) norm.phase = Phase::inference;
    norm.forward();
    EXPECT_NEAR(norm.y()[0], (1 - 10) / std::sqrt(2.0), 1e-4);
    EXPECT_EQ(listed(norm.x(3)), (std::vector{10.f, 20.f}));
    EXPECT_EQ(listed(norm.x(4)), (std::vector{2.f, 4.f}));
  }
}

// The padding of an incomplete batch changes neither statistics nor results nor gradients of the samples.
TEST(BatchNorm, PaddingDoesNotCount) {
  Direct padded = small("batch_norm"), alone("batch_norm", {{3, 2}});
  padded.moment.rows = 3;
  padded.moment.batch = 4;
  for (int i = 0; i < 5; ++i) std::ranges::copy(padded.x(i).first(alone.x(i).size()), alone.x(i).begin());
  for (Direct* norm : {&padded, &alone}) {
    norm->forward();
    std::ranges::fill(norm->dy(), 0.f);
    std::ranges::copy(std::vector{1.f, -2.f, 0.5f, 4.f, 3.f, 1.f}, norm->dy().begin());
    norm->backward();
  }
  EXPECT_EQ(listed(padded.y().first(6)), listed(alone.y()));
  EXPECT_EQ(listed(padded.dx(0).first(6)), listed(alone.dx(0)));
  EXPECT_EQ(padded.dx(0)[6], 0);
  for (const int weight : {1, 2}) EXPECT_EQ(listed(padded.dx(weight)), listed(alone.dx(weight)));
  for (const int statistic : {3, 4}) EXPECT_EQ(listed(padded.x(statistic)), listed(alone.x(statistic)));
}

// A network may fold further axes into the first: all rows of a sample count, or none.
TEST(BatchNorm, SamplesMayHaveSeveralRows) {
  Direct folded = small("batch_norm(momentum=1)");
  folded.moment.rows = 1;
  folded.moment.batch = 2;
  folded.forward();
  EXPECT_EQ(folded.x(3)[0], 2);
}

TEST(BatchNorm, MeanFarFromZeroCostsNoDigits) {
  Direct norm("batch_norm(scale=false, shift=false)", {{2, 1}});
  std::ranges::copy(std::vector{100000.f, 100002.f}, norm.x(0).begin());
  norm.forward();
  EXPECT_NEAR(norm.y()[0], -1, 1e-5);
  EXPECT_NEAR(norm.y()[1], 1, 1e-5);
}

TEST(BatchNorm, AbsorbsOnlyRelu) {
  const auto norm = make_operator("batch_norm");
  EXPECT_NE(norm->absorb(*make_operator("leaky_relu(slope=0.1)")->pointwise()), nullptr);
  EXPECT_EQ(norm->absorb(*make_operator("tanh")->pointwise()), nullptr);
}

TEST(BatchNorm, Refuses) {
  EXPECT_NE(failure([] { Direct("batch_norm", {{4}}); }).find("[batch, ..., channels]"), std::string::npos);
  EXPECT_THROW(make_operator("batch_norm(momentum=2)"), UsageError);
  EXPECT_THROW(make_operator("batch_norm(eps=0)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
