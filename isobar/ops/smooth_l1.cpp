// smooth_l1: the mean over the numbers of row n of, with d = |p - t|,
//   d^2 / (2 knee) below the knee, d - knee / 2 above it;  dp = dy * clamp((p - t) / knee, -1, 1) / (L * total)
// p, t [N, ...] with L numbers per row, y [1].
#include <cmath>

#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

struct SmoothDistance {
  double knee = 1;

  double value(float p, float t) const {
    const double d = std::abs(static_cast<double>(p) - t);
    return d < knee ? d * d / (2 * knee) : d - knee / 2;
  }
  float slope(float p, float t) const { return std::clamp((p - t) / static_cast<float>(knee), -1.0f, 1.0f); }
};

}  // namespace

extern const OperatorRow smooth_l1{
    "smooth_l1",
    "mean absolute error, squared near zero",
    [](Args& args) -> std::unique_ptr<Operator> {
      const double knee = args.real("knee", 1);
      args.require(knee > 0, "knee must be positive");
      return std::make_unique<TermLoss<SmoothDistance>>(SmoothDistance{knee});
    },
    {{"smooth_l1", {{3, 4}, {3, 4}}, -2, 2}, {"smooth_l1(knee=0.3)", {{2, 3, 5, 2}, {2, 3, 5, 2}}}}};

}  // namespace isobar::ops
