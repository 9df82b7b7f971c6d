// ClassLoss: a loss of class numbers, shared by softmax_cross_entropy, nll and focal: y = factor * sum of weight * term
// over all positions that hold samples. With S positions a row, of R rows here and `total` on all ranks together:
//   mean: factor = scale / (S * total);  sum: scale;  weighted_mean: scale / (sum of the weights) * R / total;
//   nonzero_mean: scale / (positions with a weight that is not zero) * R / total
// The last two are means over this rank's batch; R / total turns them into a share of the mean over ranks.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "isobar/ops/loss.hpp"

namespace isobar::ops {

/// How much each position counts: class weights, a class number to be skipped, and how the sum is scaled.
class ClassWeights {
 public:
  ClassWeights() = default;
  /// Reads weights, reduction, scale and ignore.
  explicit ClassWeights(Args& args);

  /// Throws if there are weights, but not one for each class.
  void check(const Shape& x) const;
  /// Throws if one of the first `valid` targets is neither a class nor ignored.
  void check(const float* target, std::int64_t valid, std::int64_t positions, std::int64_t classes) const;

  bool ignored(float target) const { return target == ignore_; }
  float of(float target) const {
    if (ignored(target)) return 0;
    return weights_.empty() ? 1.0f : weights_[static_cast<std::size_t>(target)];
  }
  /// The factor of the sum over `valid` positions; 0 if none of them counts.
  double factor(const float* target, std::int64_t valid, std::int64_t positions, const Moment& moment) const;

 private:
  std::vector<float> weights_;
  std::string reduction_ = "mean";
  double scale_ = 1;
  float ignore_ = -1;
};

/// log of the sum of exp(x_c), without overflow.
double log_sum_exp(const float* x, std::int64_t classes);

/// Throws unless x is [N, ..., classes] and target [N, ...] or [N, ..., 1].
void check_class_shapes(const Shape& x, const Shape& target);

/// Term has value(x, classes, t), the loss of one position, and gradient(x, classes, t, share, dx), which writes
/// share * d value / dx; dx may be x. Unless `reads_x`, gradient() gets a null x.
template <class Term>
class ClassLoss final : public Loss {
 public:
  ClassLoss(Term term, ClassWeights weights) : term_(term), weights_(std::move(weights)) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    check_class_shapes(in[0], in[1]);
    weights_.check(in[0]);
    return {Shape{1}};
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const std::int64_t classes = in[0].shape[-1], positions = in[0].shape.count() / in[0].shape[0] / classes;
    const auto run = [=, term = term_, weights = weights_](const Moment& moment, std::span<const dnnl::memory> m) {
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
      floats(m[2])[0] = static_cast<float>(ordered_sum(valid, part, part_length(classes)) *
                                           weights.factor(target, valid, positions, moment));
    };
    return {"forward",
            Category::forward_pointwise,
            {{{Slot::Kind::x, 0}, plain(in[0].shape)}, {{Slot::Kind::x, 1}, plain(in[1].shape)}},
            {{{Slot::Kind::y, 0}, plain({1})}},
            4.0 * in[0].shape.count(),
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    expects(!in[1].needs_gradient, "a target without gradient");
    if (!in[0].needs_gradient) return {};
    const std::int64_t classes = in[0].shape[-1], positions = in[0].shape.count() / in[0].shape[0] / classes;
    Kernel kernel{"backward", Category::backward_pointwise};
    kernel.reads = {{{Slot::Kind::x, 1}, plain(in[1].shape)}, {{Slot::Kind::dy, 0}, plain({1})}};
    if (Term::reads_x) kernel.reads.push_back({{Slot::Kind::x, 0}, plain(in[0].shape)});
    kernel.writes = {{{Slot::Kind::dx, 0}, plain(in[0].shape), Term::reads_x ? 2 : -1}};
    kernel.flops = 6.0 * in[0].shape.count();
    kernel.run = [=, rows = in[0].shape[0], term = term_, weights = weights_](const Moment& moment,
                                                                              std::span<const dnnl::memory> m) {
      const float *target = floats(m[0]), *x = Term::reads_x ? floats(m[2]) : nullptr;
      float* dx = floats(m.back());
      const std::int64_t valid = moment.rows * positions;
      const double factor = floats(m[1])[0] * weights.factor(target, valid, positions, moment);
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

  Term term_;
  ClassWeights weights_;
};

}  // namespace isobar::ops
