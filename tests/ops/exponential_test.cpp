#include "isobar/ops/exponential.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::ops {
namespace {

TEST(Exponential, IsGoodToFloatPrecision) {
  for (double x = -86.9; x < 87; x += 0.0137) {
    const auto at = static_cast<float>(x);
    const double exact = std::exp(static_cast<double>(at));
    ASSERT_NEAR(exponential(at) / exact, 1, 3e-7) << at;
  }
  EXPECT_EQ(exponential(0), 1);
  EXPECT_LT(exponential(-1000), 1e-37);
}

TEST(Exponential, SigmoidAndTanhAtTheEnds) {
  for (const float x : {-200.f, -3.f, -0.1f, 0.f, 0.5f, 7.f, 200.f}) {
    EXPECT_NEAR(logistic(x), 1 / (1 + std::exp(-static_cast<double>(x))), 2e-7);
    EXPECT_NEAR(hyperbolic_tangent(x), std::tanh(static_cast<double>(x)), 2e-7);
  }
}

}  // namespace
}  // namespace isobar::ops
