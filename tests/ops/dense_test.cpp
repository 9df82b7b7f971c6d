#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

TEST(Dense, ByHand) {
  Direct dense("dense(units=2)", {{1, 3}});
  std::ranges::copy(std::vector{1.f, 2.f, 3.f}, dense.x(0).begin());
  std::ranges::copy(std::vector{1.f, 0.f, -1.f, 2.f, 1.f, 0.5f}, dense.x(1).begin());
  std::ranges::copy(std::vector{10.f, 20.f}, dense.x(2).begin());
  dense.forward();
  EXPECT_EQ(std::vector(dense.y().begin(), dense.y().end()), (std::vector{8.f, 25.5f}));
  std::ranges::copy(std::vector{1.f, 2.f}, dense.dy().begin());
  dense.backward();
  EXPECT_EQ(std::vector(dense.dx(0).begin(), dense.dx(0).end()), (std::vector{5.f, 2.f, 0.f}));
  EXPECT_EQ(std::vector(dense.dx(1).begin(), dense.dx(1).end()), (std::vector{1.f, 2.f, 3.f, 2.f, 4.f, 6.f}));
  EXPECT_EQ(std::vector(dense.dx(2).begin(), dense.dx(2).end()), (std::vector{1.f, 2.f}));
  EXPECT_TRUE(dense.intact());
}

// The three products must agree on one layout: a large weight is never reordered within a step.
TEST(Dense, OneLayoutServesAllKernels) {
  for (const std::int64_t batch : {1, 4, 8, 32}) {
    const auto op = make_operator("dense(units=128)");
    const Shape w{128, 2048};
    const Setting setting{cpu_engine()};
    std::vector<Operand> in{{{batch, 2048}, plain({batch, 2048}), true}, {w, Layout(), true}, {{128}, Layout(), true}};
    const Layout stored = op->forward(setting, in).reads[1].layout;
    in[1].layout = stored;
    EXPECT_EQ(op->forward(setting, in).reads[1].layout, stored);
    const auto kernels = op->backward(setting, in);
    ASSERT_EQ(kernels.size(), 2u);
    EXPECT_EQ(kernels[0].writes[0].layout, stored) << batch;
    EXPECT_EQ(kernels[1].reads[0].layout, stored) << batch;
  }
}

TEST(Dense, RefusesAVector) {
  const std::string message = failure([] { Direct("dense(units=2)", {{8}}); });
  EXPECT_EQ(message, "x = 8 must be [batch, ..., features]");
  EXPECT_THROW(make_operator("dense(units=0)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
