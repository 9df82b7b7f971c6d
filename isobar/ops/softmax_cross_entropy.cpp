// softmax_cross_entropy: l(n) is the mean over the positions s of row n of
//   -weight[t] * log q_t,  q_c = exp(x_c) / sum over d of exp(x_d),  t = target[n, s]
//   dx[n, s, c] = dy * weight[t] * (q_c - [c = t]) / (S * total)
// x [N, ..., classes] with S positions a row, target [N, ...] or [N, ..., 1] holding class numbers, y [1].
#include <cmath>

#include "isobar/ops/loss.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

struct Case {
  std::int64_t rows, positions, classes;
  std::int64_t part() const { return std::max<std::int64_t>(1, loop_part / classes); }
};

Case fitted(const Shape& x) { return {x[0], x.count(1, x.rank() - 1), x[-1]}; }

bool is_class(float t, std::int64_t classes) { return t >= 0 && t < static_cast<float>(classes) && t == std::floor(t); }

// Throws for the first target that is no class.
void check(const Case& p, std::int64_t valid, const float* target) {
  const float* wrong = std::find_if(target, target + valid, [&](float t) { return !is_class(t, p.classes); });
  if (wrong == target + valid) return;
  const std::int64_t at = wrong - target;
  fail("target {} of row {}, position {} is no class; valid: whole numbers from 0 to {} ({} classes)", *wrong,
       at / p.positions, at % p.positions, p.classes - 1, p.classes);
}

double log_sum(const float* x, std::int64_t classes) {
  const float largest = *std::max_element(x, x + classes);
  double sum = 0;
  for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(x[c] - largest);
  return largest + std::log(sum);
}

class SoftmaxCrossEntropy final : public Loss {
 public:
  explicit SoftmaxCrossEntropy(Args& args) {
    for (const double w : args.reals("weights", {})) weights_.push_back(static_cast<float>(w));
    args.require(std::all_of(weights_.begin(), weights_.end(), [](float w) { return w >= 0; }),
                 "weights must not be negative");
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Shape& x = in[0];
    if (x.rank() < 2) fail("prediction = {} must be [batch, ..., classes]", x.str());
    Shape single = x;
    single[-1] = 1;
    const Shape bare({x.extents().begin(), x.extents().end() - 1});
    if (in[1] != bare && in[1] != single)
      fail("prediction = {} needs one target per position, {}, not {}", x.str(), bare.str(), in[1].str());
    if (!weights_.empty() && static_cast<std::int64_t>(weights_.size()) != x[-1])
      fail("weights has {} numbers, prediction = {} has {} classes", weights_.size(), x.str(), x[-1]);
    return {Shape{1}};
  }

  Kernel forward(const Setting&, std::span<const Operand> in) const override {
    const auto run = [p = fitted(in[0].shape), weights = all_weights(in[0].shape)](
                         const Moment& moment, std::span<const dnnl::memory> memories) {
      const float *x = floats(memories[0]), *target = floats(memories[1]);
      const std::int64_t valid = moment.rows * p.positions;
      check(p, valid, target);
      const auto part = [&](std::int64_t begin, std::int64_t end) {
        double sum = 0;
        for (std::int64_t i = begin; i < end; ++i) {
          const auto t = static_cast<std::int64_t>(target[i]);
          const float* row = x + i * p.classes;
          sum += weights[static_cast<std::size_t>(t)] * (log_sum(row, p.classes) - row[t]);
        }
        return sum;
      };
      floats(memories[2])[0] =
          static_cast<float>(ordered_sum(valid, part, p.part()) / (static_cast<double>(p.positions) * moment.total));
    };
    return {"forward",
            Category::forward_pointwise,
            {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::x, 1}, plain(in[1].shape)}},
            {{{Kind::y, 0}, plain({1})}},
            4.0 * static_cast<double>(in[0].shape.count()),
            run};
  }

  std::vector<Kernel> backward(const Setting&, std::span<const Operand> in) const override {
    expects(!in[1].needs_gradient, "a target without gradient");
    if (!in[0].needs_gradient) return {};
    const auto run = [p = fitted(in[0].shape), weights = all_weights(in[0].shape)](
                         const Moment& moment, std::span<const dnnl::memory> memories) {
      const float *x = floats(memories[0]), *target = floats(memories[1]);
      const double factor = floats(memories[2])[0] / (static_cast<double>(p.positions) * moment.total);
      float* dx = floats(memories[3]);
      const std::int64_t valid = moment.rows * p.positions;
      const auto part = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          float* to = dx + i * p.classes;
          if (i >= valid) {
            std::fill_n(to, p.classes, 0.0f);
            continue;
          }
          const auto t = static_cast<std::int64_t>(target[i]);
          const auto share = static_cast<float>(factor * weights[static_cast<std::size_t>(t)]);
          const auto shift = static_cast<float>(log_sum(x + i * p.classes, p.classes));
          for (std::int64_t c = 0; c < p.classes; ++c)
            to[c] = share * (std::exp(x[i * p.classes + c] - shift) - static_cast<float>(c == t));
        }
      };
      in_parts(p.rows * p.positions, part, p.part());
    };
    return {{"backward",
             Category::backward_pointwise,
             {{{Kind::x, 0}, plain(in[0].shape)}, {{Kind::x, 1}, plain(in[1].shape)}, {{Kind::dy, 0}, plain({1})}},
             {{{Kind::dx, 0}, plain(in[0].shape), 0}},
             6.0 * static_cast<double>(in[0].shape.count()),
             run}};
  }

 private:
  std::vector<float> all_weights(const Shape& x) const {
    return weights_.empty() ? std::vector<float>(static_cast<std::size_t>(x[-1]), 1.0f) : weights_;
  }

  std::vector<float> weights_;
};

}  // namespace

extern const OperatorRow softmax_cross_entropy;
const OperatorRow softmax_cross_entropy{
    "softmax_cross_entropy", "softmax and cross entropy against class numbers, with class weights",
    [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<SoftmaxCrossEntropy>(args); },
    [] {
      return std::vector<Problem>{
          {"softmax_cross_entropy", {{4, 5}, {4}}, -1, 1, {0, 5}},
          {"softmax_cross_entropy(weights=[0.5, 2, 4])", {{2, 3, 4, 3}, {2, 3, 4, 1}}, -1, 1, {0, 3}},
          {"softmax_cross_entropy", {{2, 7, 2}, {2, 7}}, -1, 1, {0, 2}}};
    }};

}  // namespace isobar::ops
