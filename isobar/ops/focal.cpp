// focal: cross entropy that counts positions less the better they are predicted; the mean over positions of
//   -alpha * (1 - q_t)^gamma * log q_t,  q = softmax(x),  t = target[n, s]
//   dx_c = dy * factor * alpha * ((1 - q_t)^gamma - gamma * q_t * (1 - q_t)^(gamma - 1) * log q_t) * (q_c - [c = t])
// x [N, ..., classes], target [N, ...] or [N, ..., 1] with class numbers, y [1]; the factor is that of class_loss.hpp.
#include "isobar/ops/class_loss.hpp"

namespace isobar::ops {
namespace {

struct FocalTerm {
  static constexpr bool reads_x = true;
  double alpha, gamma;

  double value(const float* x, std::int64_t classes, std::int64_t t) const {
    const double log_q = x[t] - log_sum_exp(x, classes);
    return -alpha * std::pow(-std::expm1(log_q), gamma) * log_q;
  }

  void gradient(const float* x, std::int64_t classes, std::int64_t t, float share, float* dx) const {
    const double shift = log_sum_exp(x, classes), log_q = x[t] - shift;
    // 1 - q is kept above zero, since at zero the second part would be 0 times infinity for gamma < 1.
    const double rest = std::max(-std::expm1(log_q), 1e-30);
    const double slope = std::pow(rest, gamma) - gamma * std::exp(log_q) * std::pow(rest, gamma - 1) * log_q;
    const auto factor = static_cast<float>(share * alpha * slope);
    for (std::int64_t c = 0; c < classes; ++c)
      dx[c] = factor * (std::exp(x[c] - static_cast<float>(shift)) - static_cast<float>(c == t));
  }
};

}  // namespace

extern const OperatorRow focal{"focal",
                               "cross entropy that counts well predicted positions less",
                               [](Args& args) -> std::unique_ptr<Operator> {
                                 const double alpha = args.real("alpha", 1), gamma = args.real("gamma", 2);
                                 args.require(gamma >= 0, "gamma must not be negative");
                                 return std::make_unique<ClassLoss<FocalTerm>>(FocalTerm{alpha, gamma}, ClassWeights());
                               },
                               {{"focal", {{4, 5}, {4}}, -3, 3, {0, 5}},
                                {"focal(alpha=0.25, gamma=0.5)", {{2, 3, 4, 3}, {2, 3, 4}}, -3, 3, {0, 3}},
                                {"focal(gamma=0)", {{2, 7, 2}, {2, 7, 1}}, -1, 1, {0, 2}}}};

}  // namespace isobar::ops
