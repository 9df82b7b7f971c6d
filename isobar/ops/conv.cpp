// conv: cross-correlation over 1 to 3 spatial axes, channels last.
//   y[n, p, o] = f(b[o] + sum over k, i of w[o, i, k] * x[n, p*stride + k*dilation - before, i]);  f by fusion
//   db[o] = sum dz;  dw[o, i, k] = sum over n, p of dz[n, p, o] * x[...];  dx = the transposed sum;  dz = dy * f'(y)
// x [N, spatial..., C], w [O, C/groups, kernel...], b [O]. The weight gradient runs before the data gradient, so that
// it can be sent while the latter is computed. The method is chosen from a table (conv_methods.hpp).
#include <algorithm>
#include <iterator>

#include "isobar/ops/conv_methods.hpp"
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
    if (in[0][-1] % groups_ != 0) fail("groups = {} does not divide the {} channels of x", groups_, in[0][-1]);
    Extents extents{filters_, in[0][-1] / groups_};
    extents.insert(extents.end(), w.kernel.begin(), w.kernel.end());
    return weights_.parameters(Shape(extents), filters_);
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Window w = window_.fit(in[0]);
    if (in[1].rank() != in[0].rank() || in[1][1] * groups_ != in[0][-1] || in[1][0] != filters_)
      fail("x = {} with {} groups does not fit w = {}", in[0].str(), groups_, in[1].str());
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

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis >= in[0].rank() - 1) return std::nullopt;
    return window_reach(window_.fit(in[0]), axis, in);
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    auto part = std::make_shared<Conv>(*this);
    part->window_ = window_.cropped(crop);
    return part;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    return std::move(conv_kernels(setting, fitted(setting.phase, in), Direction::forward).front());
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    ConvCase problem = fitted(setting.phase, in);
    std::vector<Kernel> list;
    problem.dz = gradient_through(after_, setting, problem.y_layout, list);
    const auto add = [&](Direction direction, int temporary) {
      problem.temporary = temporary;
      std::ranges::move(conv_kernels(setting, problem, direction), std::back_inserter(list));
    };
    if (in[1].needs_gradient || (bias_ && in[2].needs_gradient)) add(Direction::weight_gradient, 10);
    if (in[0].needs_gradient) add(Direction::data_gradient, 20);
    return list;
  }

  ConvCase fitted(Phase phase, std::span<const Operand> in) const {
    const Shape& x = in[0].shape;
    const std::vector<Shape> shapes = bias_ ? std::vector{x, in[1].shape, in[2].shape} : std::vector{x, in[1].shape};
    const Shape y = infer(shapes)[0];
    Extents axes = in[1].shape.extents();
    if (groups_ > 1) {
      axes[0] /= groups_;
      axes.insert(axes.begin(), groups_);
    }
    ConvCase problem{window_.fit(x),
                     x,
                     y,
                     channels_last(x),
                     channels_last(y),
                     any_layout(axes),
                     bias_ ? plain({filters_}) : Layout()};
    problem.stored = in[1].layout;
    problem.groups = groups_;
    problem.bias = bias_;
    problem.after = after_;
    problem.phase = phase;
    problem.flops = 2.0 * y.count() * in[1].shape.count(1, in[1].shape.rank());
    return problem;
  }

 private:
  std::int64_t filters_;
  WindowSpec window_;
  std::int64_t groups_;
  LayerWeights weights_;
  bool bias_;
  std::optional<Pointwise> after_;
};

}  // namespace

std::optional<ConvCase> conv_case(const Operator& op, std::span<const Operand> in, Phase phase) {
  const auto* conv_operator = dynamic_cast<const Conv*>(&op);
  if (!conv_operator) return std::nullopt;
  return conv_operator->fitted(phase, in);
}

extern const OperatorRow conv{
    "conv",
    "convolution over 1 to 3 spatial axes: groups, stride, dilation, any padding",
    make_member<Conv>,
    {
        {"conv(filters=3, kernel=3, padding=same)", {{2, 5, 6, 4}}},
        {"conv(filters=32, kernel=3, padding=same)", {{1, 6, 6, 6, 16}}},
        {"conv(filters=16, kernel=3, padding=same)", {{1, 6, 7, 5, 4}}},
        {"conv(filters=4, kernel=3, stride=2, padding=same, bias=false)", {{2, 6, 7, 3}}},
        {"conv(filters=6, kernel=[3, 2], stride=[2, 1], padding=[1, 0], padding_after=[0, 1], groups=2)",
         {{2, 7, 5, 4}}},
        {"conv(filters=80, kernel=3, padding=same, groups=2)", {{2, 5, 6, 32}}},
        {"conv(filters=4, kernel=3, dilation=2, padding=same)", {{1, 9, 8, 2}}},
        {"conv(filters=70, kernel=3, dilation=2, padding=same, groups=70)", {{2, 5, 6, 70}}},
        {"conv(filters=18, kernel=3, stride=2, padding=same, groups=18, bias=false)", {{1, 5, 4, 18}}},
        {"conv(filters=5, kernel=4)", {{2, 9, 3}}},
        {"conv(filters=8, kernel=4)", {{1, 7, 7, 7, 1}}},
        {"conv(filters=2, kernel=2)", {{1, 4, 5, 3, 3}}},
        {"conv(filters=16, kernel=1, stride=2, bias=false)", {{4, 16, 16, 4}}},
    }};

}  // namespace isobar::ops
