#include "isobar/forecast/least_squares.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace isobar::forecast {
namespace {

TEST(LeastSquares, FindsWhatMadeTheNumbers) {
  // y = e^a x + e^b, at four places, as logarithms.
  const double xs[] = {1, 2, 5, 9};
  const auto residuals = [&](const std::vector<double>& p) {
    std::vector<double> r;
    for (const double x : xs) r.push_back(std::log((std::exp(p[0]) * x + std::exp(p[1])) / (0.25 * x + 3)));
    return r;
  };
  const Fit fit = least_squares(residuals, {0, 0});
  EXPECT_NEAR(std::exp(fit.point[0]), 0.25, 1e-3);
  EXPECT_NEAR(std::exp(fit.point[1]), 3, 1e-2);
  EXPECT_LT(fit.squares, 1e-6);
  EXPECT_LT(fit.evaluations, 80) << "evaluations are costly";
}

TEST(LeastSquares, LeavesAloneWhatNobodyFeels) {
  const Fit fit = least_squares([](const std::vector<double>& p) { return std::vector<double>{p[0] - 1}; }, {0, 0.5});
  EXPECT_NEAR(fit.point[0], 1, 1e-3);
  EXPECT_NEAR(fit.point[1], 0.5, 1e-3);
}

TEST(LeastSquares, StaysWithinItsBounds) {
  const Fit fit = least_squares([](const std::vector<double>& p) { return std::vector<double>{p[0] - 100}; }, {0}, 5);
  EXPECT_NEAR(fit.point[0], 5, 1e-9);
  EXPECT_EQ(least_squares([](const auto&) { return std::vector<double>{2}; }, {}).squares, 4);
}

}  // namespace
}  // namespace isobar::forecast
