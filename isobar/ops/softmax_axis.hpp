// Softmax along one axis, shared by softmax and log_softmax: by oneDNN if the axis is the last. Otherwise oneDNN 2.6
// has only its reference loops (100 times slower on 8x512x1024), so our own loops run over [outer, axis, inner].
#pragma once

#include <type_traits>

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

/// A tensor seen as [outer, classes, inner]; the softmax is over the classes.
struct SoftmaxView {
  std::int64_t outer, classes, inner;
};

/// y = softmax of x, or its logarithm; y may be x.
void softmax_columns(const SoftmaxView& v, bool logarithm, const float* x, float* y);

/// dx from y and dy; dx may be dy.
void softmax_columns_gradient(const SoftmaxView& v, bool logarithm, const float* y, const float* dy, float* dx);

/// An operator made of oneDNN's primitives Forward and Backward; both may work in place.
template <class Forward, class Backward>
class SoftmaxAxis final : public Operator {
 public:
  explicit SoftmaxAxis(Args& args) : axis_(args.integer("axis", -1)) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const int rank = in[0].rank();
    if (axis_ < -rank || axis_ >= rank) fail("axis = {} is not an axis of x = {}", axis_, in[0].str());
    return {in[0]};
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Layout x = plain(in[0].shape);
    const SoftmaxView v = view(in[0].shape);
    if (v.inner > 1) {
      Kernel kernel{"forward", Category::forward_pointwise, {{{Slot::Kind::x, 0}, x}}, {{{Slot::Kind::y, 0}, x, 0}}};
      kernel.flops = 4.0 * in[0].shape.count();
      kernel.run = [v](const Moment&, std::span<const dnnl::memory> m) {
        softmax_columns(v, logarithm, floats(m[0]), floats(m[1]));
      };
      return kernel;
    }
    const auto chosen = forward_descriptor(setting, v);
    return primitive_kernel("forward", Category::forward_pointwise, Forward(chosen), chosen.scratchpad_desc(), 0,
                            {{DNNL_ARG_SRC, {{Slot::Kind::x, 0}, x}}}, {{DNNL_ARG_DST, {{Slot::Kind::y, 0}, x, 0}}},
                            4.0 * in[0].shape.count());
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape);
    const SoftmaxView v = view(in[0].shape);
    if (v.inner > 1) {
      Kernel kernel{"backward",
                    Category::backward_pointwise,
                    {{{Slot::Kind::y, 0}, x}, {{Slot::Kind::dy, 0}, x}},
                    {{{Slot::Kind::dx, 0}, x, 1}}};
      kernel.flops = 4.0 * in[0].shape.count();
      kernel.run = [v](const Moment&, std::span<const dnnl::memory> m) {
        softmax_columns_gradient(v, logarithm, floats(m[0]), floats(m[1]), floats(m[2]));
      };
      return {kernel};
    }
    const Layout seen = plain({v.outer, v.classes});
    const auto hint = forward_descriptor(setting, v);
    const auto chosen = planned("gradient of softmax", [&] {
      const typename Backward::desc desc(seen, seen, 1);
      return typename Backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return {primitive_kernel("backward", Category::backward_pointwise, Backward(chosen), chosen.scratchpad_desc(), 1,
                             {{DNNL_ARG_DST, {{Slot::Kind::y, 0}, x}}, {DNNL_ARG_DIFF_DST, {{Slot::Kind::dy, 0}, x}}},
                             {{DNNL_ARG_DIFF_SRC, {{Slot::Kind::dx, 0}, x, 1}}}, 4.0 * in[0].shape.count())};
  }

 private:
  static constexpr bool logarithm = std::is_same_v<Forward, dnnl::logsoftmax_forward>;

  SoftmaxView view(const Shape& x) const {
    const int axis = axis_ < 0 ? axis_ + x.rank() : axis_;
    return {x.count(0, axis), x[axis], x.count(axis + 1, x.rank())};
  }

  typename Forward::primitive_desc forward_descriptor(const Setting& setting, const SoftmaxView& v) const {
    const auto prop =
        setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    return planned("softmax", [&] {
      const typename Forward::desc desc(prop, plain({v.outer, v.classes}), 1);
      return typename Forward::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
  }

  std::int64_t axis_;
};

}  // namespace isobar::ops
