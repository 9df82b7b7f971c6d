// Adam. Slots m, v; with d = g (+ weight_decay w), rate r and step t counted from 1:
//   m = beta1 m + (1 - beta1) d;   v = beta2 v + (1 - beta2) d^2
//   form=paper (PyTorch):            w -= r m^ / (sqrt(v^) + epsilon),  m^ = m / (1 - beta1^t),  v^ = v / (1 - beta2^t)
//   form=tf (the paper's epsilon-hat): w -= r sqrt(1 - beta2^t) / (1 - beta1^t) m / (sqrt(v) + epsilon)
// AdamW's decay acts on the weight itself, w -= r weight_decay w, before that, and not through the moments.
// (Kingma and Ba, 2015; Loshchilov and Hutter, 2019)
#include <cmath>
#include <limits>

#include "isobar/base/loops.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

// Where the weight decay acts.
enum class Decay { in_gradient, on_weight };

class Adam final : public Optimizer {
 public:
  Adam(Args& args, Decay kind, double default_decay)
      : Optimizer(args, 0.001),
        beta1_(read_below(args, "beta1", 0.9, 1)),
        beta2_(read_below(args, "beta2", 0.999, 1)),
        epsilon_(read_epsilon(args, 1e-8)),
        paper_(args.one_of("form", "paper", {"paper", "tf"}) == "paper"),
        kind_(kind),
        decay_(read_below(args, "weight_decay", default_decay, std::numeric_limits<double>::infinity())) {}

  int slots() const override { return 2; }

  void update(std::span<float> w_span, std::span<const float> g_span, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w_span, g_span, slot, step);
    const auto t = static_cast<double>(step.index);
    const double first = 1 - std::pow(beta1_, t);
    const double second = std::sqrt(1 - std::pow(beta2_, t));
    const auto rate = static_cast<float>(paper_ ? step.rate() / first : step.rate() * second / first);
    const auto root_scale = static_cast<float>(paper_ ? 1 / second : 1);
    const double decay = decay_ * step.decay_scale;
    const auto in_gradient = static_cast<float>(kind_ == Decay::in_gradient ? decay : 0);
    const auto on_weight = static_cast<float>(kind_ == Decay::on_weight ? step.rate() * decay : 0);
    const auto keep1 = static_cast<float>(beta1_), take1 = static_cast<float>(1 - beta1_);
    const auto keep2 = static_cast<float>(beta2_), take2 = static_cast<float>(1 - beta2_);
    const auto scale = static_cast<float>(step.gradient_scale);
    const float epsilon = epsilon_;
    float* const w = w_span.data();
    const float* const g = g_span.data();
    float* const m = slot[0].data();
    float* const v = slot[1].data();
    in_parts(w_span.size(), [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        const float d = scale * g[i] + in_gradient * w[i];
        const float mean = keep1 * m[i] + take1 * d;
        const float square = keep2 * v[i] + take2 * (d * d);
        m[i] = mean;
        v[i] = square;
        w[i] -= on_weight * w[i] + rate * mean / (root_scale * std::sqrt(square) + epsilon);
      }
    });
  }

 private:
  double beta1_, beta2_;
  float epsilon_;
  bool paper_;
  Decay kind_;
  double decay_;
};

}  // namespace

extern const Row<Optimizer> adam{
    "adam", "adaptive moments with bias correction",
    [](Args& args) -> std::unique_ptr<Optimizer> { return std::make_unique<Adam>(args, Decay::in_gradient, 0); }};

extern const Row<Optimizer> adamw{
    "adamw", "adam with decoupled weight decay",
    [](Args& args) -> std::unique_ptr<Optimizer> { return std::make_unique<Adam>(args, Decay::on_weight, 0.01); }};

}  // namespace isobar::optim
