#include <cmath>

#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

// Equal scores: every query gets the mean of what it may see.
TEST(Attention, CausalSeesOnlyThePast) {
  Direct attention("attention(causal=true)", {{1, 3, 1}, {1, 3, 1}, {1, 3, 1}});
  std::ranges::fill(attention.x(0), 0.f);
  std::ranges::fill(attention.x(1), 5.f);
  std::ranges::copy(std::vector{1.f, 3.f, 8.f}, attention.x(2).begin());
  attention.forward();
  EXPECT_FLOAT_EQ(attention.y()[0], 1);
  EXPECT_FLOAT_EQ(attention.y()[1], 2);
  EXPECT_FLOAT_EQ(attention.y()[2], 4);
  std::ranges::copy(std::vector{0.f, 6.f, 0.f}, attention.dy().begin());
  attention.backward();
  EXPECT_FLOAT_EQ(attention.dx(2)[0], 3);
  EXPECT_FLOAT_EQ(attention.dx(2)[1], 3);
  EXPECT_EQ(attention.dx(2)[2], 0);
  EXPECT_TRUE(attention.intact());
}

TEST(Attention, LargeScoresDoNotOverflow) {
  Direct attention("attention", {{1, 1, 1}, {1, 2, 1}, {1, 2, 1}});
  attention.x(0)[0] = 100;
  std::ranges::copy(std::vector{-9.f, 9.f}, attention.x(1).begin());
  std::ranges::copy(std::vector{1.f, 2.f}, attention.x(2).begin());
  attention.forward();
  EXPECT_FLOAT_EQ(attention.y()[0], 2);
}

// No tensor of queries times keys is kept between forward and backward, or ever exists as a whole.
TEST(Attention, MemoryGrowsWithTheLengthOnly) {
  const std::int64_t length = 4096, width = 64;
  const Direct attention("attention(heads=4)", {{1, length, width}, {1, length, width}, {1, length, width}});
  std::vector<Kernel> kernels = attention.op->backward(attention.setting(), attention.in);
  kernels.push_back(attention.op->forward(attention.setting(), attention.in));
  for (const Kernel& kernel : kernels)
    for (const Port& port : kernel.writes) EXPECT_LT(padded_count(port.layout), length * length);
  EXPECT_EQ(kernels.back().flops, 4.0 * length * length * width);
  EXPECT_EQ(kernels.front().flops, 8.0 * length * length * width);
}

TEST(Attention, Refuses) {
  EXPECT_EQ(failure([] {
              Direct("attention(heads=3)", {{1, 2, 4}, {1, 2, 4}, {1, 2, 4}});
            }),
            "heads = 3 does not divide the width 4 of q");
  EXPECT_EQ(failure([] {
              Direct("attention", {{1, 2, 4}, {1, 3, 4}, {1, 2, 4}});
            }),
            "q = 1x2x4, k = 1x3x4, v = 1x2x4 must be [batch, length, width], k and v alike");
}

}  // namespace
}  // namespace isobar::ops
