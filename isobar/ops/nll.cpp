// nll: the sum over positions s of row n of -weight[t] * x_t, t = target[n, s], where x are log-probabilities.
//   dx[n, s, c] = -dy * factor * weight[t] * [c = t];  the factor is that of class_loss.hpp
// x [N, ..., classes], target [N, ...] or [N, ..., 1] with class numbers, y [1]. The target `ignore` has weight 0.
#include "isobar/ops/class_loss.hpp"

namespace isobar::ops {
namespace {

struct LikelihoodTerm {
  static constexpr bool reads_x = false;
  static double value(const float* x, std::int64_t, std::int64_t t) { return -static_cast<double>(x[t]); }
  static void gradient(const float*, std::int64_t classes, std::int64_t t, float share, float* dx) {
    std::fill_n(dx, classes, 0.0f);
    dx[t] = -share;
  }
};

}  // namespace

extern const OperatorRow nll{
    "nll",
    "cross entropy of logarithms of probabilities against class numbers",
    [](Args& args) -> std::unique_ptr<Operator> {
      return std::make_unique<ClassLoss<LikelihoodTerm>>(LikelihoodTerm{}, ClassWeights(args));
    },
    {{"nll", {{4, 5}, {4}}, -3, -0.1, {0, 5}},
     {"nll(weights=[0.5, 2, 4], reduction=weighted_mean)", {{2, 7, 3}, {2, 7, 1}}, -3, -0.1, {-1, 3}}}};

}  // namespace isobar::ops
