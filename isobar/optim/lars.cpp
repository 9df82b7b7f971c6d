// LARS, layer-wise adaptive rate scaling (You et al., 2017), as in Intel-Caffe: gradient descent with momentum in
// which a local rate replaces the parameter's rate scale, unless that is 0. With d = g + weight_decay w:
//   local = eta |w| / (|g| + weight_decay |w|), or 1 if |w| or |g| is 0;   v = mu v - r local d;   w += v
// As in Intel-Caffe, every parameter is adapted, including biases and the scales of a batch norm; adapt=decayed leaves
// those without weight decay (decay_scale 0) to plain gradient descent.
#include <cmath>
#include <limits>

#include "isobar/optim/norm.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

class Lars final : public Optimizer {
 public:
  explicit Lars(Args& args)
      : Optimizer(args, 0.01),
        momentum_(read_below(args, "momentum", 0.9, 1)),
        decay_(read_below(args, "weight_decay", 0.0005, std::numeric_limits<double>::infinity())),
        eta_(read_below(args, "eta", 0.001, std::numeric_limits<double>::infinity())),
        adapts_all_(args.one_of("adapt", "all", {"all", "decayed"}) == "all"),
        descent_(make(optimizers(), Spec("sgd", {{"momentum", momentum_}, {"weight_decay", decay_}}), "optimizer")) {
    args.require(eta_ > 0, "eta must be above 0");
  }

  int slots() const override { return descent_->slots(); }
  bool needs_whole() const override { return true; }

  void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w, g, slot, step);
    Step adapted = step;
    if (step.rate_scale > 0 && (adapts_all_ || step.decay_scale != 0)) adapted.rate_scale = local_rate(w, g, step);
    descent_->update(w, g, slot, adapted);
  }

 private:
  double local_rate(std::span<const float> w, std::span<const float> g, const Step& step) const {
    const double weights = norm(w), gradients = norm(g) * std::abs(step.gradient_scale);
    if (weights == 0 || gradients == 0) return 1;
    return eta_ * weights / (gradients + decay_ * step.decay_scale * weights);
  }

  double momentum_, decay_, eta_;
  bool adapts_all_;
  std::unique_ptr<Optimizer> descent_;
};

}  // namespace

extern const Row<Optimizer> lars{"lars", "momentum with a rate for each layer from the ratio of its norms",
                                 make_member<Lars>};

}  // namespace isobar::optim
