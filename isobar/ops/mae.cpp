// mae: the mean absolute error; l(n) is the mean of |p - t| over the numbers of row n.
//   dp[n, i] = dy * sign(p - t) / (L * total), with sign(0) = 0
// p, t [N, ...] with L numbers per row, y [1].
#include <cmath>

#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

struct Distance {
  static double value(float p, float t) { return std::abs(static_cast<double>(p) - t); }
  static float slope(float p, float t) { return static_cast<float>((p > t) - (p < t)); }
};

}  // namespace

extern const OperatorRow mae{"mae",
                             "mean absolute error",
                             make_member<TermLoss<Distance>>,
                             {{"mae", {{3, 4}, {3, 4}}}, {"mae", {{2, 3, 5, 2}, {2, 3, 5, 2}}}}};

}  // namespace isobar::ops
