// conv: cross-correlation over 1 to 3 spatial axes, channels last.
//   y[n, p, o] = f(b[o] + sum over k, i of w[o, i, k] * x[n, p*stride + k*dilation - before, i]);  f by fusion
//   db[o] = sum dz;  dw[o, i, k] = sum over n, p of dz[n, p, o] * x[...];  dx = the transposed sum;  dz = dy * f'(y)
// x [N, spatial..., C], w [O, C/groups, kernel...], b [O]. The weight gradient runs before the data gradient, so that
// it can travel while the latter is computed.
#include "isobar/ops/conv_flip.hpp"
#include "isobar/ops/conv_narrow.hpp"
#include "isobar/ops/deconv_phases.hpp"
#include "isobar/ops/layer_weights.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Conv final : public Operator {
 public:
  explicit Conv(Args& args)
      : filters_(args.integer("filters")),
        window_(args, "kernel", false),
        groups_(args.integer("groups", 1)),
        weights_(args),
        bias_(weights_.bias()) {
    args.require(filters_ >= 1, "filters must be at least 1");
    args.require(groups_ >= 1 && filters_ % groups_ == 0, "groups must divide filters");
  }

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    const Window w = window_.fit(in[0]);
    if (in[0][-1] % groups_ != 0) fail("groups = {} do not divide the {} channels of x", groups_, in[0][-1]);
    Extents extents{filters_, in[0][-1] / groups_};
    extents.insert(extents.end(), w.kernel.begin(), w.kernel.end());
    return weights_.parameters(Shape(extents), filters_);
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Window w = window_.fit(in[0]);
    if (in[1].rank() != in[0].rank() || in[1][1] * groups_ != in[0][-1] || in[1][0] != filters_)
      fail("x = {} with {} groups does not go with w = {}", in[0].str(), groups_, in[1].str());
    Extents y{in[0][0]};
    y.insert(y.end(), w.out.begin(), w.out.end());
    y.push_back(filters_);
    return {Shape(y)};
  }

  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override {
    if (after_) return nullptr;
    auto fused = std::make_shared<Conv>(*this);
    fused->after_ = next;
    return fused;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in);
    const auto chosen = forward_descriptor(setting, p);
    std::vector<Argument> reads{{DNNL_ARG_SRC, {{Kind::x, 0}, p.x}},
                                {DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}};
    if (bias_) reads.push_back({DNNL_ARG_BIAS, {{Kind::x, 2}, p.b}});
    return primitive_kernel("forward", Category::forward_convolution, dnnl::convolution_forward(chosen),
                            chosen.scratchpad_desc(), 0, std::move(reads), {{DNNL_ARG_DST, {{Kind::y, 0}, p.y}}},
                            p.flops);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in);
    const bool own = setting.own_kernels;
    std::vector<Kernel> list;
    const Slot dz = gradient_through(after_, setting, p.y, list);
    if (in[1].needs_gradient || (bias_ && in[2].needs_gradient)) {
      auto narrow =
          own && groups_ == 1 ? narrow_weight_gradient(in[0].shape, p.out, p.window, bias_, dz, p.flops) : std::nullopt;
      list.push_back(narrow ? std::move(*narrow) : weight_gradient(setting, p, dz));
    }
    if (in[0].needs_gradient) {
      auto forward_form =
          own ? data_gradient_by_forward(setting, p.window, p.x, in[1].layout, p.y, dz, 2, p.flops) : std::nullopt;
      auto phases =
          own && groups_ == 1 && !forward_form
              ? deconv_by_phases(setting, {p.window, p.out, in[0].shape, in[1].layout, dz, {Kind::dx, 0}, false, 2},
                                 "data gradient", Category::backward_convolution, p.flops)
              : std::nullopt;
      if (forward_form) std::move(forward_form->begin(), forward_form->end(), std::back_inserter(list));
      else list.push_back(phases ? std::move(*phases) : data_gradient(setting, p, dz));
    }
    return list;
  }

 private:
  struct Case {
    Window window;
    Layout x, w, b, y;
    Shape out;
    double flops;
  };

  Case fitted(std::span<const Operand> in) const {
    const Shape& x = in[0].shape;
    const std::vector<Shape> shapes = bias_ ? std::vector{x, in[1].shape, in[2].shape} : std::vector{x, in[1].shape};
    const Shape y = infer(shapes)[0];
    Extents axes = in[1].shape.extents();
    if (groups_ > 1) {
      axes[0] /= groups_;
      axes.insert(axes.begin(), groups_);
    }
    Case p{window_.fit(x),
           channels_last(x),
           any_layout(axes),
           bias_ ? plain({filters_}) : Layout(),
           channels_last(y),
           y,
           0};
    p.flops = 2.0 * static_cast<double>(y.count()) * static_cast<double>(in[1].shape.count(1, in[1].shape.rank()));
    return p;
  }

  dnnl::convolution_forward::primitive_desc forward_descriptor(const Setting& setting, const Case& p) const {
    const auto prop =
        setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    return planned("convolution", [&] {
      const dnnl::convolution_forward::desc desc(prop, dnnl::algorithm::convolution_direct, p.x, p.w, p.b, p.y,
                                                 p.window.stride, p.window.gaps(), p.window.before, p.window.after);
      return dnnl::convolution_forward::primitive_desc(desc, with_post_op(after_), setting.engine);
    });
  }

  Kernel weight_gradient(const Setting& setting, const Case& p, Slot dz) const {
    const auto hint = forward_descriptor(setting, p);
    const auto chosen = planned("weight gradient of a convolution", [&] {
      const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, p.x, p.w, p.b, p.y,
                                                          p.window.stride, p.window.gaps(), p.window.before,
                                                          p.window.after);
      return dnnl::convolution_backward_weights::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    std::vector<Argument> writes{{DNNL_ARG_DIFF_WEIGHTS, {{Kind::dx, 1}, chosen.diff_weights_desc()}}};
    if (bias_) writes.push_back({DNNL_ARG_DIFF_BIAS, {{Kind::dx, 2}, p.b}});
    return primitive_kernel("weight gradient", Category::backward_convolution,
                            dnnl::convolution_backward_weights(chosen), chosen.scratchpad_desc(), 1,
                            {{DNNL_ARG_SRC, {{Kind::x, 0}, p.x}}, {DNNL_ARG_DIFF_DST, {dz, p.y}}}, std::move(writes),
                            p.flops);
  }

  Kernel data_gradient(const Setting& setting, const Case& p, Slot dz) const {
    const auto hint = forward_descriptor(setting, p);
    const auto chosen = planned("data gradient of a convolution", [&] {
      const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, p.x, p.w, p.y,
                                                       p.window.stride, p.window.gaps(), p.window.before,
                                                       p.window.after);
      return dnnl::convolution_backward_data::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return primitive_kernel("data gradient", Category::backward_convolution, dnnl::convolution_backward_data(chosen),
                            chosen.scratchpad_desc(), 2,
                            {{DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}, {DNNL_ARG_DIFF_DST, {dz, p.y}}},
                            {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, p.x}}}, p.flops);
  }

  std::int64_t filters_;
  WindowSpec window_;
  std::int64_t groups_;
  LayerWeights weights_;
  bool bias_;
  std::optional<Pointwise> after_;
};

}  // namespace

extern const OperatorRow conv;
const OperatorRow conv{
    "conv", "convolution over 1 to 3 spatial axes: groups, stride, dilation, any padding",
    [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<Conv>(args); },
    [] {
      return std::vector<Problem>{
          {"conv(filters=3, kernel=3, padding=same)", {{2, 5, 6, 4}}},
          {"conv(filters=32, kernel=3, padding=same)", {{1, 6, 6, 6, 16}}},
          {"conv(filters=16, kernel=3, padding=same)", {{1, 6, 7, 5, 4}}},
          {"conv(filters=4, kernel=3, stride=2, padding=same, bias=false)", {{2, 6, 7, 3}}},
          {"conv(filters=6, kernel=[3, 2], stride=[2, 1], padding=[1, 0], padding_after=[0, 1], groups=2)",
           {{2, 7, 5, 4}}},
          {"conv(filters=4, kernel=3, dilation=2, padding=same)", {{1, 9, 8, 2}}},
          {"conv(filters=5, kernel=4)", {{2, 9, 3}}},
          {"conv(filters=8, kernel=4)", {{1, 7, 7, 7, 1}}},
          {"conv(filters=2, kernel=2)", {{1, 4, 5, 3, 3}}},
      };
    }};

}  // namespace isobar::ops
