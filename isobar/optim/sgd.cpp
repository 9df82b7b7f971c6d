// Stochastic gradient descent with momentum. With d = g + weight_decay w, the slot v and the rate r:
//   form=tf (Keras, TensorFlow, Caffe):  v = mu v - r d;  w += v             nesterov:  w += mu v - r d
//   form=torch:                          v = mu v + d;    w -= r v           nesterov:  w -= r (d + mu v)
// The two differ only when the rate changes: in the first form, old gradients keep the rate of their own step.
#include <limits>

#include "isobar/base/loops.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

class Sgd final : public Optimizer {
 public:
  explicit Sgd(Args& args)
      : Optimizer(args, 0.01),
        momentum_(read_below(args, "momentum", 0, 1)),
        nesterov_(args.flag("nesterov", false)),
        decay_(read_below(args, "weight_decay", 0, std::numeric_limits<double>::infinity())),
        rate_in_slot_(args.one_of("form", "tf", {"tf", "torch"}) == "tf") {
    args.require(!nesterov_ || momentum_ > 0, "nesterov needs momentum above 0");
  }

  int slots() const override { return momentum_ > 0 ? 1 : 0; }

  void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w, g, slot, step);
    const auto decay = static_cast<float>(decay_ * step.decay_scale);
    const auto rate = static_cast<float>(step.rate());
    const auto scale = static_cast<float>(step.gradient_scale);
    if (momentum_ == 0) plain(w, g, scale, rate, decay);
    else if (nesterov_) with_momentum<true>(w, g, slot[0], scale, rate, decay);
    else with_momentum<false>(w, g, slot[0], scale, rate, decay);
  }

 private:
  static void plain(std::span<float> w_span, std::span<const float> g_span, float scale, float rate, float decay) {
    float* const w = w_span.data();
    const float* const g = g_span.data();
    in_parts(w_span.size(), [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) w[i] -= rate * (scale * g[i] + decay * w[i]);
    });
  }

  // Both forms are v = mu v + into d;  w += out v, with the rate and the sign in `into` or in `out`.
  template <bool nesterov>
  void with_momentum(std::span<float> w_span, std::span<const float> g_span, std::span<float> v_span, float scale,
                     float rate, float decay) const {
    float* const w = w_span.data();
    const float* const g = g_span.data();
    float* const v = v_span.data();
    const auto mu = static_cast<float>(momentum_);
    const float into = rate_in_slot_ ? -rate : 1;
    const float out = rate_in_slot_ ? 1 : -rate;
    in_parts(w_span.size(), [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        const float push = into * (scale * g[i] + decay * w[i]);
        const float velocity = mu * v[i] + push;
        v[i] = velocity;
        w[i] += out * (nesterov ? mu * velocity + push : velocity);
      }
    });
  }

  double momentum_;
  bool nesterov_;
  double decay_;
  bool rate_in_slot_;
};

}  // namespace

extern const Row<Optimizer> sgd{"sgd", "gradient descent with momentum, Nesterov momentum and weight decay",
                                make_member<Sgd>};

}  // namespace isobar::optim
