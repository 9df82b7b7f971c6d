// RMSprop (Hinton, 2012; centered: Graves, 2013). With d = g + weight_decay w and rate r:
//   a = rho a + (1 - rho) d^2;   centered:  c = rho c + (1 - rho) d,  otherwise c = 0
//   s = r d / (sqrt(a - c^2) + epsilon);   momentum:  v = mu v + s,  otherwise v = s;   w -= v
// Slots in this order: a, then c if centered, then v with momentum. Epsilon is outside the root, as in PyTorch.
#include <cmath>
#include <limits>

#include "isobar/base/loops.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

class RmsProp final : public Optimizer {
 public:
  explicit RmsProp(Args& args)
      : Optimizer(args, 0.001),
        rho_(read_below(args, "rho", 0.9, 1)),
        momentum_(read_below(args, "momentum", 0, 1)),
        centered_(args.flag("centered", false)),
        epsilon_(read_epsilon(args, 1e-7)),
        decay_(read_below(args, "weight_decay", 0, std::numeric_limits<double>::infinity())) {}

  int slots() const override { return 1 + centered_ + (momentum_ > 0); }

  void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w, g, slot, step);
    if (centered_ && momentum_ > 0) run<true, true>(w, g, slot, step);
    else if (centered_) run<true, false>(w, g, slot, step);
    else if (momentum_ > 0) run<false, true>(w, g, slot, step);
    else run<false, false>(w, g, slot, step);
  }

 private:
  template <bool centered, bool moving>
  void run(std::span<float> w_span, std::span<const float> g_span, std::span<const std::span<float>> slot,
           const Step& step) const {
    const auto decay = static_cast<float>(decay_ * step.decay_scale);
    const auto rate = static_cast<float>(step.rate());
    const auto mu = static_cast<float>(momentum_);
    const auto keep = static_cast<float>(rho_), take = static_cast<float>(1 - rho_);
    const auto scale = static_cast<float>(step.gradient_scale);
    const float epsilon = epsilon_;
    float* const w = w_span.data();
    const float* const g = g_span.data();
    float* const a = slot[0].data();
    float* const c = centered ? slot[1].data() : nullptr;
    float* const v = moving ? slot.back().data() : nullptr;
    in_parts(w_span.size(), [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        const float d = scale * g[i] + decay * w[i];
        const float square = keep * a[i] + take * (d * d);
        a[i] = square;
        float variance = square;
        if constexpr (centered) {
          const float mean = keep * c[i] + take * d;
          c[i] = mean;
          const float difference = square - mean * mean;
          variance = difference > 0 ? difference : 0;  // rounding can make it slightly negative
        }
        float change = rate * d / (std::sqrt(variance) + epsilon);
        if constexpr (moving) {
          change += mu * v[i];
          v[i] = change;
        }
        w[i] -= change;
      }
    });
  }

  double rho_, momentum_;
  bool centered_;
  float epsilon_;
  double decay_;
};

}  // namespace

extern const Row<Optimizer> rmsprop{
    "rmsprop", "gradients divided by their running root mean square, optionally centered, with momentum",
    make_member<RmsProp>};

}  // namespace isobar::optim
