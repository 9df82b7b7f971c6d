// Losses of class numbers, softmax_cross_entropy, nll and focal: y = factor * sum of weight * term
// over all positions that hold samples. With S positions a row, of R rows here and `total` on all ranks together:
//   mean: factor = scale / (S * total);  sum: scale;  weighted_mean: scale / (sum of the weights) * R / total;
//   nonzero_mean: scale / (positions with a weight that is not zero) * R / total
// The last two are means over this rank's batch; R / total turns them into a share of the mean over ranks. Parts of a
// loss have the S of the whole; for the last two means they are given the divisor, which is a sum over all parts.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "isobar/ops/exponential.hpp"
#include "isobar/ops/loss.hpp"

namespace isobar::ops {

double log_sum_exp(const float* x, std::int64_t classes) {
  const float largest = *std::max_element(x, x + classes);
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(x[c] - largest);
  return largest + std::log(sum);
}

namespace {

using Kind = Slot::Kind;

// How much each position counts: class weights, a class number to be skipped, and how the sum is scaled.
class ClassWeights {
 public:
  ClassWeights() = default;
  // Reads weights, reduction, scale and ignore.
  explicit ClassWeights(Args& args);

  // Throws if there are weights, but not one for each class.
  void check(const Shape& x) const;
  // Throws if one of the first `valid` targets is neither a class nor ignored.
  void check(const float* target, std::int64_t valid, std::int64_t positions, std::int64_t classes) const;

  bool ignored(float target) const { return target == ignore_; }
  float of(float target) const {
    if (ignored(target)) return 0;
    return weights_.empty() ? 1.0f : weights_[static_cast<std::size_t>(target)];
  }
  // Whether the mean is over what the batch's positions weigh.
  bool by_weight() const { return reduction_ == "weighted_mean" || reduction_ == "nonzero_mean"; }
  // What `valid` positions weigh together, or how many of them count.
  double weight(const float* target, std::int64_t valid) const;
  // The factor of the sum over all positions, which weigh so much together; 0 if none of them counts.
  double factor(double weight, std::int64_t positions, const Moment& moment) const;

 private:
  std::vector<float> weights_;
  std::string reduction_ = "mean";
  double scale_ = 1;
  float ignore_ = -1;
};

ClassWeights::ClassWeights(Args& args)
    : reduction_(args.one_of("reduction", "mean", {"mean", "sum", "weighted_mean", "nonzero_mean"})),
      scale_(args.real("scale", 1)),
      ignore_(static_cast<float>(args.integer("ignore", -1))) {
  for (const double w : args.reals("weights", {})) weights_.push_back(static_cast<float>(w));
  args.require(std::all_of(weights_.begin(), weights_.end(), [](float w) { return w >= 0; }),
               "weights must not be negative");
}

void ClassWeights::check(const Shape& x) const {
  if (!weights_.empty() && std::ssize(weights_) != x[-1])
    fail("weights has {} numbers, prediction = {} has {} classes", weights_.size(), x.str(), x[-1]);
}

void ClassWeights::check(const float* target, std::int64_t valid, std::int64_t positions, std::int64_t classes) const {
  const auto wrong = [&](float t) {
    return !ignored(t) && !(t >= 0 && t < static_cast<float>(classes) && t == std::floor(t));
  };
  const std::int64_t at = std::find_if(target, target + valid, wrong) - target;
  if (at < valid)
    fail("target {} of row {}, position {} is no class; valid: whole numbers from 0 to {} ({} classes)", target[at],
         at / positions, at % positions, classes - 1, classes);
}

double ClassWeights::weight(const float* target, std::int64_t valid) const {
  const bool counts = reduction_ == "nonzero_mean";
  return ordered_sum(valid, [&](std::int64_t begin, std::int64_t end) {
    double part = 0;
    for (std::int64_t i = begin; i < end; ++i) part += counts ? of(target[i]) != 0 : of(target[i]);
    return part;
  });
}

double ClassWeights::factor(double weight, std::int64_t positions, const Moment& moment) const {
  if (reduction_ == "sum") return scale_;
  if (reduction_ == "mean") return scale_ / (static_cast<double>(positions) * moment.total);
  return weight == 0 ? 0 : scale_ / weight * static_cast<double>(moment.rows) / moment.total;
}

// What the positions of a part weigh together; summed over all parts, the divisor of each. Of targets [N, ...], y [1].
class ClassWeightSum final : public Operator {
 public:
  ClassWeightSum(ClassWeights weights, std::int64_t classes) : weights_(std::move(weights)), classes_(classes) {}

  std::vector<Shape> infer(std::span<const Shape>) const override { return {Shape{1}}; }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const std::int64_t positions = in[0].shape.count(1, in[0].shape.rank());
    const auto run = [positions, classes = classes_, weights = weights_](const Moment& moment,
                                                                         std::span<const dnnl::memory> m) {
      const std::int64_t valid = moment.rows * positions;
      weights.check(floats(m[0]), valid, positions, classes);
      floats(m[1])[0] = static_cast<float>(weights.weight(floats(m[0]), valid));
    };
    return {"forward",
            Category::forward_pointwise,
            {{{Kind::x, 0}, plain(in[0].shape)}},
            {{{Kind::y, 0}, plain({1})}},
            static_cast<double>(in[0].shape.count()),
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    expects(!in[0].needs_gradient, "a target without gradient");
    return {};
  }

 private:
  ClassWeights weights_;
  std::int64_t classes_;
};

// Throws unless x is [N, ..., classes] and target [N, ...] or [N, ..., 1].
void check_class_shapes(const Shape& x, const Shape& target) {
  if (x.rank() < 2) fail("prediction = {} must be [batch, ..., classes]", x.str());
  Shape single = x;
  single[-1] = 1;
  const Shape bare({x.extents().begin(), x.extents().end() - 1});
  if (target != bare && target != single)
    fail("prediction = {} needs one target per position, {}, not {}", x.str(), bare.str(), target.str());
}

// Term has value(x, classes, t), the loss of one position, and gradient(x, classes, t, share, dx), which writes
// share * d value / dx; dx may be x. Unless `reads_x`, gradient() gets a null x.
template <class Term>
class ClassLoss final : public Loss {
 public:
  ClassLoss(Term term, ClassWeights weights) : term_(term), weights_(std::move(weights)) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    check_class_shapes(in[0], in[1]);
    weights_.check(in[0]);
    return {Shape{1}};
  }

  int arity() const override { return given_divisor_ ? 3 : 2; }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank() - 1) return std::nullopt;
    Reach reach = summed_reach(axis, in);
    if (weights_.by_weight() && !given_divisor_) reach.divisor = std::make_shared<ClassWeightSum>(weights_, in[0][-1]);
    return reach;
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    auto part = std::make_shared<ClassLoss>(*this);
    part->whole_positions_ = divided_by(crop.in[0]);
    part->given_divisor_ = weights_.by_weight();
    return part;
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const std::int64_t classes = in[0].shape[-1], positions = in[0].shape.count() / in[0].shape[0] / classes;
    const auto run = [=, loss = *this, whole = divided_by(in[0].shape)](const Moment& moment,
                                                                        std::span<const dnnl::memory> m) {
      const Term& term = loss.term_;
      const ClassWeights& weights = loss.weights_;
      const float *x = floats(m[0]), *target = floats(m[1]);
      const std::int64_t valid = moment.rows * positions;
      weights.check(target, valid, positions, classes);
      const auto part = [&](std::int64_t begin, std::int64_t end) {
        double sum = 0;
        for (std::int64_t i = begin; i < end; ++i)
          if (!weights.ignored(target[i]))
            sum += weights.of(target[i]) * term.value(x + i * classes, classes, static_cast<std::int64_t>(target[i]));
        return sum;
      };
      const double weight = loss.divisor(target, valid, loss.given_divisor_ ? floats(m[2]) : nullptr);
      floats(m.back())[0] =
          static_cast<float>(ordered_sum(valid, part, part_length(classes)) * weights.factor(weight, whole, moment));
    };
    Kernel kernel{"forward", Category::forward_pointwise};
    kernel.reads = {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::x, 1}, plain(in[1].shape)}};
    if (given_divisor_) kernel.reads.push_back({{Kind::x, 2}, plain({1})});
    kernel.writes = {{{Kind::y, 0}, plain({1})}};
    kernel.flops = 4.0 * in[0].shape.count();
    kernel.run = run;
    return kernel;
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    expects(!in[1].needs_gradient, "a target without gradient");
    if (!in[0].needs_gradient) return {};
    const std::int64_t classes = in[0].shape[-1], positions = in[0].shape.count() / in[0].shape[0] / classes;
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.reads = {{{Kind::x, 1}, plain(in[1].shape)}, {{Kind::dy, 0}, plain({1})}};
    if (Term::reads_x) kernel.reads.push_back({{Kind::x, 0}, plain(in[0].shape)});
    if (given_divisor_) kernel.reads.push_back({{Kind::x, 2}, plain({1})});
    kernel.writes = {{{Kind::dx, 0}, plain(in[0].shape), Term::reads_x ? 2 : -1}};
    kernel.flops = 6.0 * in[0].shape.count();
    kernel.run = [=, rows = in[0].shape[0], loss = *this, whole = divided_by(in[0].shape)](
                     const Moment& moment, std::span<const dnnl::memory> m) {
      const Term& term = loss.term_;
      const ClassWeights& weights = loss.weights_;
      const float *target = floats(m[0]), *x = Term::reads_x ? floats(m[2]) : nullptr;
      float* dx = floats(m.back());
      const std::int64_t valid = moment.rows * positions;
      const double weight = loss.divisor(target, valid, loss.given_divisor_ ? floats(m[m.size() - 2]) : nullptr);
      const double factor = floats(m[1])[0] * weights.factor(weight, whole, moment);
      const auto part = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          if (i >= valid || weights.ignored(target[i])) {
            std::fill_n(dx + i * classes, classes, 0.0f);
            continue;
          }
          const auto share = static_cast<float>(factor * weights.of(target[i]));
          term.gradient(x ? x + i * classes : nullptr, classes, static_cast<std::int64_t>(target[i]), share,
                        dx + i * classes);
        }
      };
      in_parts(rows * positions, part, part_length(classes));
    };
    return {kernel};
  }

 private:
  static std::int64_t part_length(std::int64_t classes) { return std::max<std::int64_t>(1, loop_part / classes); }

  std::int64_t divided_by(const Shape& x) const {
    return whole_positions_ > 0 ? whole_positions_ : x.count() / x[0] / x[-1];
  }
  double divisor(const float* target, std::int64_t valid, const float* given) const {
    if (!weights_.by_weight()) return 0;
    return given ? *given : weights_.weight(target, valid);
  }

  Term term_;
  ClassWeights weights_;
  std::int64_t whole_positions_ = 0;  // of a part: those of the whole
  bool given_divisor_ = false;        // a part of a mean by weight has what all positions weigh as its last input
};

// focal: cross entropy that counts positions less the better they are predicted; the mean over positions of
//   -alpha * (1 - q_t)^gamma * log q_t,  q = softmax(x),  t = target[n, s]
//   dx_c = dy * factor * alpha * ((1 - q_t)^gamma - gamma * q_t * (1 - q_t)^(gamma - 1) * log q_t) * (q_c - [c = t])
// x [N, ..., classes], target [N, ...] or [N, ..., 1] with class numbers, y [1].
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

// nll: the sum over positions s of row n of -weight[t] * x_t, t = target[n, s], where x are log-probabilities.
//   dx[n, s, c] = -dy * factor * weight[t] * [c = t]
// x [N, ..., classes], target [N, ...] or [N, ..., 1] with class numbers, y [1]. The target `ignore` has weight 0.
struct LikelihoodTerm {
  static constexpr bool reads_x = false;
  static double value(const float* x, std::int64_t, std::int64_t t) { return -static_cast<double>(x[t]); }
  static void gradient(const float*, std::int64_t classes, std::int64_t t, float share, float* dx) {
    std::fill_n(dx, classes, 0.0f);
    dx[t] = -share;
  }
};

// softmax_cross_entropy: the sum over positions s of row n of
//   -weight[t] * log q_t,  q_c = exp(x_c) / sum over d of exp(x_d),  t = target[n, s]
//   dx[n, s, c] = dy * factor * weight[t] * (q_c - [c = t])
// x [N, ..., classes], target [N, ...] or [N, ..., 1] with class numbers, y [1]. The target `ignore` has weight 0.
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

extern const OperatorRow nll{
    "nll",
    "cross entropy of logarithms of probabilities against class numbers",
    [](Args& args) -> std::unique_ptr<Operator> {
      return std::make_unique<ClassLoss<LikelihoodTerm>>(LikelihoodTerm{}, ClassWeights(args));
    },
    {{"nll", {{4, 5}, {4}}, -3, -0.1, {0, 5}},
     {"nll(weights=[0.5, 2, 4], reduction=weighted_mean)", {{2, 7, 3}, {2, 7, 1}}, -3, -0.1, {-1, 3}}}};

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
