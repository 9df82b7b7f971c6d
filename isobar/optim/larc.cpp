// LARC, layer-wise adaptive rate control, around any rule: each parameter's gradient is scaled before the base rule
// sees it. With rate r and local = eta |w| / |g|, or `fallback` if one of the norms is 0, the factor is
//   mode=clip: min(local, r) / r, so that the layer's rate is at most local;   mode=scale: local;
//   mode=unit: min(local, 1), as in CosmoFlow's ADAM_LARC.   g is the mean over the samples of all ranks.
// As in the climate benchmark, every parameter is adapted, including biases; adapt=decayed leaves those without weight
// decay (decay_scale 0) to the base rule.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isobar/optim/norm.hpp"
#include "isobar/optim/optimizer.hpp"

namespace isobar::optim {
namespace {

class Larc final : public Optimizer {
 public:
  explicit Larc(Args& args) : Larc(args, read_base(args)) {}

  int slots() const override { return base_->slots(); }
  bool needs_whole() const override { return true; }

  void update(std::span<float> w, std::span<const float> g, std::span<const std::span<float>> slot,
              const Step& step) const override {
    expect_fit(w, g, slot, step);
    Step scaled = step;
    if (adapts_all_ || step.decay_scale != 0) scaled.gradient_scale *= factor(w, g, step);
    base_->update(w, g, slot, scaled);
  }

 private:
  enum class Mode { clip, unit, scale };

  Larc(Args& args, std::unique_ptr<Optimizer> base)
      : Optimizer(base->base_rate()),
        base_(std::move(base)),
        eta_(read_below(args, "eta", 0.002, std::numeric_limits<double>::infinity())),
        fallback_(read_below(args, "fallback", 1.0 / 16000, std::numeric_limits<double>::infinity())),
        adapts_all_(args.one_of("adapt", "all", {"all", "decayed"}) == "all") {
    const std::string mode = args.one_of("mode", "clip", {"clip", "unit", "scale"});
    mode_ = mode == "clip" ? Mode::clip : mode == "unit" ? Mode::unit : Mode::scale;
    args.require(eta_ > 0, "eta must be above 0");
  }

  static std::unique_ptr<Optimizer> read_base(Args& args) {
    Spec resolved;
    auto base = make(optimizers(), args.spec("base", "adam"), "optimizer", &resolved);
    args.require(!base->needs_whole(), fmt::format("base must not adapt layers itself, as {} does", resolved.name()));
    args.record("base", std::move(resolved));
    return base;
  }

  double factor(std::span<const float> w, std::span<const float> g, const Step& step) const {
    const double weights = norm(w), gradients = norm(g) * std::abs(step.gradient_scale);
    const double local = weights > 0 && gradients > 0 ? eta_ * weights / gradients : fallback_;
    switch (mode_) {
      case Mode::clip: return local < step.rate() ? local / step.rate() : 1;
      case Mode::unit: return std::min(local, 1.0);
      case Mode::scale: return local;
    }
    return local;
  }

  std::unique_ptr<Optimizer> base_;
  double eta_, fallback_;
  bool adapts_all_;
  Mode mode_ = Mode::clip;
};

}  // namespace

extern const Row<Optimizer> larc{"larc", "another rule, each layer's gradient scaled by the ratio of its norms",
                                 make_member<Larc>};

}  // namespace isobar::optim
