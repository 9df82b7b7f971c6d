// Least squares for few unknowns and few, costly evaluations: Levenberg's damped Gauss-Newton steps with numerical
// derivatives. Unknowns are logarithms of factors, so that factors stay positive and one step size suits all.
#pragma once

#include <functional>
#include <vector>

namespace isobar::forecast {

/// Residuals at a point; their number is constant.
using Residuals = std::function<std::vector<double>(const std::vector<double>& point)>;

struct Fit {
  std::vector<double> point{};
  double squares = 0;  ///< sum of squared residuals there
  int evaluations = 0;
};

/// Searches from `start`, within +-`most` of it in every direction.
Fit least_squares(const Residuals& residuals, std::vector<double> start, double most = 5, int most_steps = 20);

}  // namespace isobar::forecast
