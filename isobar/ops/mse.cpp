// mse: the mean squared error; l(n) is the mean of (p - t)^2 over the numbers of row n.
//   dp[n, i] = dy * 2 (p - t) / (L * total)
// p, t [N, ...] with L numbers per row, y [1].
#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

struct Square {
  static double value(float p, float t) {
    const double d = static_cast<double>(p) - t;
    return d * d;
  }
  static float slope(float p, float t) { return 2.0f * (p - t); }
};

}  // namespace

extern const OperatorRow mse{"mse",
                             "mean squared error",
                             make_member<TermLoss<Square>>,
                             {{"mse", {{3, 4}, {3, 4}}}, {"mse", {{2, 3, 5, 2}, {2, 3, 5, 2}}}}};

}  // namespace isobar::ops
