// Softmax along one axis by oneDNN, shared by softmax and log_softmax. x is seen as [outer, axis, inner].
#pragma once

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

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
    const auto chosen = forward_descriptor(setting, in[0].shape);
    const Layout x = plain(in[0].shape);
    return primitive_kernel("forward", Category::forward_pointwise, Forward(chosen), chosen.scratchpad_desc(), 0,
                            {{DNNL_ARG_SRC, {{Slot::Kind::x, 0}, x}}}, {{DNNL_ARG_DST, {{Slot::Kind::y, 0}, x, 0}}},
                            4.0 * static_cast<double>(in[0].shape.count()));
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape), seen = view(in[0].shape);
    const auto hint = forward_descriptor(setting, in[0].shape);
    const auto chosen = planned("gradient of softmax", [&] {
      const typename Backward::desc desc(seen, seen, 1);
      return typename Backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return {primitive_kernel("backward", Category::backward_pointwise, Backward(chosen), chosen.scratchpad_desc(), 1,
                             {{DNNL_ARG_DST, {{Slot::Kind::y, 0}, x}}, {DNNL_ARG_DIFF_DST, {{Slot::Kind::dy, 0}, x}}},
                             {{DNNL_ARG_DIFF_SRC, {{Slot::Kind::dx, 0}, x, 1}}},
                             4.0 * static_cast<double>(in[0].shape.count()))};
  }

 private:
  // oneDNN's fast loops want the axis last, so it must not be followed by an axis of one.
  Layout view(const Shape& x) const {
    const int axis = static_cast<int>(axis_ < 0 ? axis_ + x.rank() : axis_);
    const std::int64_t outer = x.count(0, axis), inner = x.count(axis + 1, x.rank());
    return inner == 1 ? plain({outer, x[axis]}) : plain({outer, x[axis], inner});
  }

  typename Forward::primitive_desc forward_descriptor(const Setting& setting, const Shape& x) const {
    const auto prop =
        setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    return planned("softmax", [&] {
      const typename Forward::desc desc(prop, view(x), 1);
      return typename Forward::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
  }

  std::int64_t axis_;
};

}  // namespace isobar::ops
