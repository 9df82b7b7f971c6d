// Losses: a prediction against a target, averaged over the samples of the batch that are not padding.
//   y = 1/total * sum over rows n < moment.rows of l(n);  l(n) is the mean over the numbers (or positions) of row n
// total counts the samples of all ranks, so losses and gradients can be summed over ranks.
#pragma once

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/base/loops.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

/// A loss of two inputs, prediction and target; only the prediction has a gradient.
class Loss : public Operator {
 public:
  int arity() const override { return 2; }
  bool is_loss() const override { return true; }
};

/// A loss that sums a term of (prediction, target) over all numbers. Term has value(p, t) and slope(p, t), the
/// derivative by p; it may have divisor(shape), by which a row's sum is divided instead of its length.
template <class Term>
class TermLoss final : public Loss {
 public:
  explicit TermLoss(Term term = {}) : term_(term) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0] != in[1]) fail("prediction is {}, target is {}: the shapes must be equal", in[0].str(), in[1].str());
    return {Shape{1}};
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
            {{{Slot::Kind::x, 0}, layout}, {{Slot::Kind::x, 1}, layout}},
            {{{Slot::Kind::y, 0}, plain({1})}},
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
             {{{Slot::Kind::x, 0}, layout}, {{Slot::Kind::x, 1}, layout}, {{Slot::Kind::dy, 0}, plain({1})}},
             {{{Slot::Kind::dx, 0}, layout, 0}},
             3.0 * count,
             run}};
  }

 private:
  double divisor(const Shape& x) const {
    if constexpr (requires { term_.divisor(x); }) return term_.divisor(x);
    else return static_cast<double>(x.count(1, x.rank()));
  }

  Term term_;
};

}  // namespace isobar::ops
