#include <cmath>

#include <gtest/gtest.h>

#include "isobar/comm/local_comm.hpp"

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

std::string seated(const char* arguments, const comm::Comm& comm) {
  return fmt::format("batch_norm({}circle=team, rank={}, ranks={})", arguments, comm.rank(), comm.size());
}

// With three ranks that hold the same rows, every sum is three times that of this rank.
TEST(BatchNorm, StatisticsOfAllRanks) {
  comm::run_ranks(3, [](comm::Comm& comm) {
    Direct joint = small(seated("momentum=0.25, ", comm).c_str()), alone("batch_norm(momentum=0.25)", {{12, 2}});
    joint.comm = &comm;
    for (int i = 1; i < 5; ++i) std::ranges::copy(joint.x(i), alone.x(i).begin());
    const std::vector dy{1.f, -2.f, 0.5f, 4.f, 3.f, 1.f, 0.25f, 1.f};
    for (std::size_t i = 0; i < 24; ++i) alone.x(0)[i] = joint.x(0)[i % 8], alone.dy()[i] = dy[i % 8];
    std::ranges::copy(dy, joint.dy().begin());
    for (Direct* norm : {&joint, &alone}) norm->forward(), norm->backward();
    EXPECT_TRUE(joint.intact());
    EXPECT_FLOAT_EQ(joint.x(4)[0], 0.75f * 2 + 0.25f * 60 / 11);  // Bessel with the rows of all ranks
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_FLOAT_EQ(joint.y()[i], alone.y()[i]);
      EXPECT_NEAR(joint.dx(0)[i], alone.dx(0)[i], 1e-6);
    }
    for (const int weight : {1, 2})
      for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(3 * joint.dx(weight)[c], alone.dx(weight)[c], 1e-5);
  });
}

TEST(BatchNorm, MeanFarFromZeroCostsNoDigitsBetweenRanksEither) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    Direct norm(seated("scale=false, shift=false, momentum=1, unbiased=false, ", comm), {{2, 1}});
    norm.comm = &comm;
    std::ranges::copy(comm.rank() == 0 ? std::vector{100000.f, 100000.5f} : std::vector{100002.f, 100001.5f},
                      norm.x(0).begin());
    norm.forward();
    EXPECT_EQ(norm.x(1)[0], 100001);
    EXPECT_NEAR(norm.x(2)[0], 0.625f, 1e-5);
    EXPECT_NEAR(norm.y()[0], (comm.rank() == 0 ? -1 : 1) / std::sqrt(0.625), 1e-4);
  });
}

// A rank whose batch has no rows still gets the statistics of the others, and contributes no gradient.
TEST(BatchNorm, RankWithoutRowsTakesPart) {
  comm::run_ranks(3, [](comm::Comm& comm) {
    Direct norm = small(seated("momentum=0.25, ", comm).c_str());
    norm.comm = &comm;
    norm.moment.batch = 4;
    norm.moment.rows = comm.rank() == 1 ? 4 : 0;
    norm.forward();
    std::ranges::fill(norm.dy(), 0.f);
    if (comm.rank() == 1) std::ranges::copy(std::vector{1.f, -2.f, 0.5f, 4.f}, norm.dy().begin());
    norm.backward();
    EXPECT_EQ(listed(norm.x(3)), (std::vector{0.75f * 10 + 0.25f * 4, 0.75f * 20 + 0.25f * 5}));
    EXPECT_FLOAT_EQ(norm.x(4)[0], 0.75f * 2 + 0.25f * 20 / 3);
    EXPECT_FLOAT_EQ(norm.x(4)[1], 0.75f * 4);
    if (comm.rank() == 1) return;
    EXPECT_EQ(listed(norm.dx(0)), std::vector<float>(8));
    for (const int weight : {1, 2}) EXPECT_EQ(listed(norm.dx(weight)), std::vector<float>(2));
  });
}

TEST(BatchNorm, WithoutRowsOnAnyRankNothingMoves) {
  comm::run_ranks(2, [](comm::Comm& comm) {
    Direct norm = small(seated("", comm).c_str());
    norm.comm = &comm;
    norm.moment.batch = 4;
    norm.moment.rows = 0;
    norm.forward();
    EXPECT_EQ(listed(norm.x(3)), (std::vector{10.f, 20.f}));
    EXPECT_EQ(listed(norm.y()), std::vector<float>(8));
  });
}

bool talks(const std::vector<Kernel>& kernels) {
  return std::ranges::any_of(kernels, [](const Kernel& kernel) { return kernel.talk.has_value(); });
}

TEST(BatchNorm, FrozenAndInferenceAndOneRankExchangeNothing) {
  const std::vector<Operand> in = small("batch_norm").in;
  const Setting training{cpu_engine()}, inference{cpu_engine(), Phase::inference};
  const auto seat = make_operator("batch_norm(ranks=2)"), frozen = make_operator("batch_norm(ranks=2, frozen=true)");
  EXPECT_TRUE(talks(seat->forwards(training, in)) && talks(seat->backward(training, in)));
  EXPECT_FALSE(talks(seat->forwards(inference, in)));
  EXPECT_FALSE(talks(frozen->forwards(training, in)) || talks(frozen->backward(training, in)));
  const auto alone = make_operator("batch_norm");
  EXPECT_FALSE(talks(alone->forwards(training, in)) || talks(alone->backward(training, in)));
}

// They can be summed over ranks while the messages are under way.
TEST(BatchNorm, GradientsOfWeightsDoNotWaitForMessages) {
  const std::vector<Kernel> kernels =
      make_operator("batch_norm(ranks=2)")->backward({cpu_engine()}, small("batch_norm").in);
  ASSERT_EQ(kernels.size(), 4u);
  const auto writes = [&](std::size_t kernel, int input) {
    return std::ranges::find(kernels[kernel].writes, Slot{Slot::Kind::dx, input}, &Port::slot) !=
           kernels[kernel].writes.end();
  };
  EXPECT_TRUE(writes(0, 1) && writes(0, 2) && !writes(0, 0));
  EXPECT_TRUE(kernels[1].talk && kernels[2].talk);
  EXPECT_TRUE(writes(3, 0));
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
