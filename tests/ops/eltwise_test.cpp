#include <gtest/gtest.h>

#include "isobar/base/error.hpp"

#include "tests/ops/direct.hpp"
#include "tests/ops/failure.hpp"

namespace isobar::ops {
namespace {

TEST(Eltwise, ActivationsAreIncreasingAndMayRunInPlace) {
  for (const char* name : {"relu", "leaky_relu", "tanh", "sigmoid"}) {
    Direct f(name, {{2, 3}});
    ASSERT_TRUE(f.op->pointwise());
    EXPECT_TRUE(f.op->pointwise()->increasing);
    EXPECT_EQ(f.op->forward(f.setting(), f.in).writes[0].alias_of, 0);
    const auto backward = f.op->backward(f.setting(), f.in);
    ASSERT_EQ(backward.size(), 1u);
    EXPECT_EQ(backward[0].writes[0].alias_of, 1) << "the gradient may overwrite dy, read number 1";
    f.in[0].needs_gradient = false;
    EXPECT_TRUE(f.op->backward(f.setting(), f.in).empty());
  }
}

TEST(Eltwise, LeakyReluByHand) {
  Direct f("leaky_relu(slope=0.25)", {{1, 3}});
  std::ranges::copy(std::vector{-4.f, 0.f, 2.f}, f.x(0).begin());
  f.forward();
  EXPECT_EQ(std::vector(f.y().begin(), f.y().end()), (std::vector{-1.f, 0.f, 2.f}));
  std::ranges::copy(std::vector{8.f, 8.f, 8.f}, f.dy().begin());
  f.backward();
  EXPECT_EQ(f.dx(0)[0], 2.f);
  EXPECT_EQ(f.dx(0)[2], 8.f);
  EXPECT_TRUE(f.intact());
}

TEST(Eltwise, RefusesANegativeSlope) { EXPECT_THROW(make_operator("leaky_relu(slope=-0.1)"), UsageError); }

TEST(Eltwise, OnlyWhatFollowsFromTheOutputIsAbsorbed) {
  for (const char* spec : {"exp", "sqrt", "elu", "clip(min=0, max=6)"}) {
    ASSERT_TRUE(make_operator(spec)->pointwise()) << spec;
    EXPECT_TRUE(make_operator(spec)->pointwise()->increasing) << spec;
  }
  for (const char* spec : {"log", "gelu", "softplus", "pow", "prelu", "elementary(f=abs)"})
    EXPECT_FALSE(make_operator(spec)->pointwise()) << spec;
}

TEST(Elementary, RoundsHalvesToEven) {
  Direct f("elementary(f=round)", {{1, 4}});
  std::ranges::copy(std::vector{0.5f, 1.5f, -2.5f, 2.6f}, f.x(0).begin());
  f.forward();
  EXPECT_EQ(std::vector(f.y().begin(), f.y().end()), (std::vector{0.f, 2.f, -2.f, 3.f}));
}

TEST(Elementary, UnknownFunctionsAndParametersAreAnswered) {
  EXPECT_NE(failure([] { make_operator("elementary(f=asnh)"); }).find("asinh"), std::string::npos);
  EXPECT_THROW(make_operator("elementary(f=abs, alpha=1)"), UsageError);
  EXPECT_THROW(make_operator("elementary(f=selu, beta=1)"), UsageError);
  EXPECT_THROW(make_operator("elementary(f=celu, alpha=0)"), UsageError);
}

TEST(Scale, IsNotAbsorbed) { EXPECT_FALSE(make_operator("scale(by=2)")->pointwise()); }

}  // namespace
}  // namespace isobar::ops
