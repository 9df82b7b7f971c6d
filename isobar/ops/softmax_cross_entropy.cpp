// softmax_cross_entropy: the sum over positions s of row n of
//   -weight[t] * log q_t,  q_c = exp(x_c) / sum over d of exp(x_d),  t = target[n, s]
//   dx[n, s, c] = dy * factor * weight[t] * (q_c - [c = t]);  the factor is that of class_loss.hpp
// x [N, ..., classes], target [N, ...] or [N, ..., 1] with class numbers, y [1]. The target `ignore` has weight 0.
#include <algorithm>

#include "isobar/ops/class_loss.hpp"
#include "isobar/ops/exponential.hpp"

namespace isobar::ops {
namespace {

struct SoftmaxTerm {
  static constexpr bool reads_x = true;
  static double value(const float* x, std::int64_t classes, std::int64_t t) { return log_sum_exp(x, classes) - x[t]; }
  static void gradient(const float* x, std::int64_t classes, std::int64_t t, float share, float* dx) {
    const float largest = *std::max_element(x, x + classes);
#pragma omp simd
    for (std::int64_t c = 0; c < classes; ++c) dx[c] = exponential(x[c] - largest);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += dx[c];
    const auto factor = static_cast<float>(share / sum);
    for (std::int64_t c = 0; c < classes; ++c) dx[c] *= factor;
    dx[t] -= share;
  }
};

}  // namespace

extern const OperatorRow softmax_cross_entropy{
    "softmax_cross_entropy", "softmax and cross entropy against class numbers, with class weights",
    [](Args& args) -> std::unique_ptr<Operator> {
      return std::make_unique<ClassLoss<SoftmaxTerm>>(SoftmaxTerm{}, ClassWeights(args));
    },
    [] {
      const std::string weighted = "softmax_cross_entropy(weights=[0.5, 0, 4], reduction=";
      return std::vector<Problem>{
          {"softmax_cross_entropy", {{4, 5}, {4}}, -1, 1, {0, 5}},
          {"softmax_cross_entropy(weights=[0.5, 2, 4])", {{2, 3, 4, 3}, {2, 3, 4, 1}}, -1, 1, {0, 3}},
          {"softmax_cross_entropy", {{2, 7, 2}, {2, 7}}, -1, 1, {0, 2}},
          {weighted + "sum, scale=0.1)", {{2, 3, 4, 3}, {2, 3, 4}}, -1, 1, {-1, 3}},
          {weighted + "weighted_mean)", {{2, 3, 4, 3}, {2, 3, 4}}, -1, 1, {-1, 3}},
          {weighted + "nonzero_mean, ignore=2)", {{2, 3, 4, 3}, {2, 3, 4}}, -1, 1, {0, 3}}};
    }()};

}  // namespace isobar::ops
