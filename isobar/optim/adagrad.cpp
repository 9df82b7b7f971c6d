// Adagrad (Duchi et al., 2011). Slot a, with d = g + weight_decay w and rate r:
//   a += d^2;   w -= r d / (sqrt(initial + a) + epsilon)
// `initial` is the value other libraries initialise the accumulator with (Keras 0.1); here slots always start at zero.
#include <cmath>
#include <limits>

#include "isobar/base/loops.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(Args& args)
      : Optimizer(args, 0.01),
        initial_(read_below(args, "initial", 0, std::numeric_limits<double>::infinity())),
        epsilon_(read_epsilon(args, 1e-10)),
        decay_(read_below(args, "weight_decay", 0, std::numeric_limits<double>::infinity())) {}

  int slots() const override { return 1; }

  void update(std::span<float> w_span, std::span<const float> g_span, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w_span, g_span, slot, step);
    const auto decay = static_cast<float>(decay_ * step.decay_scale);
    const auto rate = static_cast<float>(step.rate());
    const auto initial = static_cast<float>(initial_);
    const auto scale = static_cast<float>(step.gradient_scale);
    const float epsilon = epsilon_;
    float* const w = w_span.data();
    const float* const g = g_span.data();
    float* const a = slot[0].data();
    in_parts(w_span.size(), [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        const float d = scale * g[i] + decay * w[i];
        const float sum = a[i] + d * d;
        a[i] = sum;
        w[i] -= rate * d / (std::sqrt(initial + sum) + epsilon);
      }
    });
  }

 private:
  double initial_;
  float epsilon_;
  double decay_;
};

}  // namespace

extern const Row<Optimizer> adagrad{"adagrad", "rates that shrink with the sum of squared gradients",
                                    make_member<Adagrad>};

}  // namespace isobar::optim
