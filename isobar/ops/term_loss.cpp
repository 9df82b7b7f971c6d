// Losses that sum a term over the numbers of prediction and target. l(n) is a mean over the L numbers of row n; the
// formulas at the terms are those of the term and of its derivative.
// p, t [N, ...] with L numbers per row, y [1];  dp = dy * (derivative of the term) / (L * total)
#include <cmath>

#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// A loss that sums a term of (prediction, target) over all numbers. Term has value(p, t) and slope(p, t), the
// derivative by p; it may have divisor(shape), by which a row's sum is divided instead of its length.
template <class Term>
class TermLoss final : public Loss {
 public:
  explicit TermLoss(Term term = {}) : term_(term) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0] != in[1]) fail("prediction is {}, target is {}: the shapes must be equal", in[0].str(), in[1].str());
    return {Shape{1}};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override { return summed_reach(axis, in); }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    auto part = std::make_shared<TermLoss>(*this);
    part->divisor_ = divisor(crop.in[0]);
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const Layout layout = plain(in[0].shape);
    const std::int64_t length = in[0].shape.count(1, in[0].shape.rank());
    const auto run = [length, divisor = divisor(in[0].shape), term = term_](const Moment& moment,
                                                                            std::span<const dnnl::memory> memories) {
      const float *p = floats(memories[0]), *t = floats(memories[1]);
      const double sum = ordered_sum(moment.rows * length, [=](std::int64_t begin, std::int64_t end) {
        double part = 0;
        for (std::int64_t i = begin; i < end; ++i) part += term.value(p[i], t[i]);
        return part;
      });
      floats(memories[2])[0] = static_cast<float>(sum / (divisor * moment.total));
    };
    return {"forward",
            Category::forward_pointwise,
            {{{Kind::x, 0}, layout}, {{Kind::x, 1}, layout}},
            {{{Kind::y, 0}, plain({1})}},
            3.0 * in[0].shape.count(),
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    expects(!in[1].needs_gradient, "a target without gradient");
    if (!in[0].needs_gradient) return {};
    const Layout layout = plain(in[0].shape);
    const std::int64_t count = in[0].shape.count(), length = in[0].shape.count(1, in[0].shape.rank());
    const auto run = [count, length, divisor = divisor(in[0].shape), term = term_](
                         const Moment& moment, std::span<const dnnl::memory> memories) {
      const float *p = floats(memories[0]), *t = floats(memories[1]);
      const auto factor = static_cast<float>(floats(memories[2])[0] / (divisor * moment.total));
      float* dp = floats(memories[3]);
      in_parts(count, [=, valid = moment.rows * length](std::int64_t begin, std::int64_t end) {
        const std::int64_t padding = std::clamp(valid, begin, end);
        for (std::int64_t i = begin; i < padding; ++i) dp[i] = factor * term.slope(p[i], t[i]);
        std::fill(dp + padding, dp + end, 0.0f);
      });
    };
    return {{"backward",
             Category::backward_pointwise,
             {{{Kind::x, 0}, layout}, {{Kind::x, 1}, layout}, {{Kind::dy, 0}, plain({1})}},
             {{{Kind::dx, 0}, layout, 0}},
             3.0 * count,
             run}};
  }

 private:
  double divisor(const Shape& x) const {
    if (divisor_) return *divisor_;
    if constexpr (requires { term_.divisor(x); }) return term_.divisor(x);
    else return static_cast<double>(x.count(1, x.rank()));
  }

  Term term_;
  std::optional<double> divisor_;  // of a part: that of the whole
};

// mae: |p - t|;  sign(p - t), with sign(0) = 0
struct Distance {
  static double value(float p, float t) { return std::abs(static_cast<double>(p) - t); }
  static float slope(float p, float t) { return static_cast<float>((p > t) - (p < t)); }
};

// mse: (p - t)^2;  2 (p - t)
struct Square {
  static double value(float p, float t) {
    const double d = static_cast<double>(p) - t;
    return d * d;
  }
  static float slope(float p, float t) { return 2.0f * (p - t); }
};

// sigmoid_cross_entropy: each class separately, for samples with several labels; with q = 1 / (1 + exp(-x)) the term is
//   -positive_weight * t * log q - (1 - t) * log(1 - q), or 0 where t is `ignore`
//   d term / dx = positive_weight * t * (q - 1) + (1 - t) * q
// reduction=sum_classes: l(n) is the sum over classes, the mean over positions; mean: the mean over both.
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

// smooth_l1, with d = |p - t|: d^2 / (2 knee) below the knee, d - knee / 2 above it;  clamp((p - t) / knee, -1, 1)
struct SmoothDistance {
  double knee = 1;

  double value(float p, float t) const {
    const double d = std::abs(static_cast<double>(p) - t);
    return d < knee ? d * d / (2 * knee) : d - knee / 2;
  }
  float slope(float p, float t) const { return std::clamp((p - t) / static_cast<float>(knee), -1.0f, 1.0f); }
};

}  // namespace

extern const OperatorRow mae{"mae",
                             "mean absolute error",
                             make_member<TermLoss<Distance>>,
                             {{"mae", {{3, 4}, {3, 4}}}, {"mae", {{2, 3, 5, 2}, {2, 3, 5, 2}}}}};

extern const OperatorRow mse{"mse",
                             "mean squared error",
                             make_member<TermLoss<Square>>,
                             {{"mse", {{3, 4}, {3, 4}}}, {"mse", {{2, 3, 5, 2}, {2, 3, 5, 2}}}}};

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
