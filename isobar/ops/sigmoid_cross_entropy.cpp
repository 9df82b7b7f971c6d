// sigmoid_cross_entropy: each class separately, for samples with several labels; with q = 1 / (1 + exp(-x)) the term is
//   -positive_weight * t * log q - (1 - t) * log(1 - q), or 0 where t is `ignore`
//   d term / dx = positive_weight * t * (q - 1) + (1 - t) * q
// reduction=sum_classes: l(n) is the sum over classes, the mean over positions; mean: the mean over both.
// x, t [N, ..., classes], y [1].
#include <cmath>

#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

struct SigmoidTerm {
  float positive_weight = 1, ignore = -1;
  bool sum_classes = true;

  double value(float x, float t) const {
    if (t == ignore) return 0;
    const double rest = std::log1p(std::exp(-std::abs(static_cast<double>(x))));  // of the larger of q and 1 - q
    const double no = rest + std::max(-x, 0.0f), yes = rest + std::max(x, 0.0f);  // -log q, -log(1 - q)
    return positive_weight * t * no + (1 - t) * yes;
  }
  float slope(float x, float t) const {
    if (t == ignore) return 0;
    const float q = 1 / (1 + std::exp(-x));
    return positive_weight * t * (q - 1) + (1 - t) * q;
  }
  double divisor(const Shape& x) const {
    return static_cast<double>(x.count(1, x.rank())) / (sum_classes && x.rank() > 1 ? x[-1] : 1);
  }
};

}  // namespace

extern const OperatorRow sigmoid_cross_entropy{
    "sigmoid_cross_entropy",
    "cross entropy of every class by itself, for several labels",
    [](Args& args) -> std::unique_ptr<Operator> {
      const auto weight = static_cast<float>(args.real("positive_weight", 1));
      args.require(weight >= 0, "positive_weight must not be negative");
      const auto ignore = static_cast<float>(args.real("ignore", -1));
      const bool sum = args.one_of("reduction", "sum_classes", {"sum_classes", "mean"}) == "sum_classes";
      return std::make_unique<TermLoss<SigmoidTerm>>(SigmoidTerm{weight, ignore, sum});
    },
    {{"sigmoid_cross_entropy", {{3, 5}, {3, 5}}, -3, 3, {0, 2}},
     {"sigmoid_cross_entropy(positive_weight=12)", {{4, 7}, {4, 7}}, -3, 3, {-1, 2}},
     {"sigmoid_cross_entropy(reduction=mean)", {{2, 3, 4}, {2, 3, 4}}, -3, 3, {-1, 2}},
     {"sigmoid_cross_entropy", {{2, 3, 4}, {2, 3, 4}}, -3, 3, {-1, 2}}}};

}  // namespace isobar::ops
