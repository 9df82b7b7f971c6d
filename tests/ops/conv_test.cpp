#include <gtest/gtest.h>

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

// x = 1 2 3 4 with one channel, kernel (1, 10), so y_p = x_p + 10 x_{p+1}; SAME pads one element at the end.
TEST(Conv, ByHand) {
  Direct conv("conv(filters=1, kernel=2, padding=same, bias=false)", {{1, 4, 1}});
  std::ranges::copy(std::vector{1.f, 2.f, 3.f, 4.f}, conv.x(0).begin());
  std::ranges::copy(std::vector{1.f, 10.f}, conv.x(1).begin());
  ASSERT_EQ(conv.out[0], (Shape{1, 4, 1}));
  conv.forward();
  EXPECT_EQ(std::vector(conv.y().begin(), conv.y().end()), (std::vector{21.f, 32.f, 43.f, 4.f}));
  std::ranges::copy(std::vector{1.f, 0.f, 0.f, 2.f}, conv.dy().begin());
  conv.backward();
  EXPECT_EQ(std::vector(conv.dx(0).begin(), conv.dx(0).end()), (std::vector{1.f, 10.f, 0.f, 2.f}));
  EXPECT_EQ(std::vector(conv.dx(1).begin(), conv.dx(1).end()), (std::vector{9.f, 2.f}));
  EXPECT_TRUE(conv.intact());
}

TEST(Conv, RefusesGroupsThatDoNotDivide) {
  const auto op = make_operator("conv(filters=4, groups=2)");
  const std::vector<Shape> x{{1, 5, 5, 3}};
  EXPECT_EQ(failure([&] { op->parameters(x); }), "groups = 2 does not divide the 3 channels of x");
  EXPECT_THROW(make_operator("conv(filters=3, groups=2)"), UsageError);
}

// The optimizer's multipliers for weight and bias; dense has the same arguments.
TEST(Conv, GivesWeightAndBiasTheirMultipliers) {
  const char* multipliers = "decay=250, bias_rate=2, bias_decay=0";
  for (const auto& [spec, x] : {std::pair{fmt::format("conv(filters=4, {})", multipliers), Shape{1, 5, 5, 3}},
                                {fmt::format("dense(units=4, {})", multipliers), Shape{1, 5}}}) {
    const std::vector<Parameter> made = make_operator(spec)->parameters(std::vector{x});
    EXPECT_EQ(made[0].rate_scale, 1) << spec;
    EXPECT_EQ(made[0].decay_scale, 250) << spec;
    EXPECT_EQ(made[1].rate_scale, 2) << spec;
    EXPECT_EQ(made[1].decay_scale, 0) << spec;
  }
  EXPECT_THROW(make_operator("conv(filters=4, decay=-1)"), UsageError);
  EXPECT_THROW(make_operator("dense(units=4, bias_rate=-1)"), UsageError);
}

}  // namespace
}  // namespace isobar::ops
