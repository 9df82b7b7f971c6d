#include "isobar/ops/eltwise_of_input.hpp"

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

using Kind = Slot::Kind;

dnnl::eltwise_forward::primitive_desc EltwiseOfInput::descriptor(const Setting& setting, const Layout& x) const {
  const auto prop =
      setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  return planned("function", [&] {
    const dnnl::eltwise_forward::desc desc(prop, f_, x, alpha_, beta_);
    return dnnl::eltwise_forward::primitive_desc(desc, own_scratchpad(), setting.engine);
  });
}

Kernel EltwiseOfInput::forward(const Setting& setting, std::span<const Operand> in) const {
  const Layout x = plain(in[0].shape);
  const auto chosen = descriptor(setting, x);
  return primitive_kernel("forward", Category::forward_pointwise, dnnl::eltwise_forward(chosen),
                          chosen.scratchpad_desc(), 0, {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}},
                          {{DNNL_ARG_DST, {{Kind::y, 0}, x, 0}}}, static_cast<double>(in[0].shape.count()));
}

std::vector<Kernel> EltwiseOfInput::backward(const Setting& setting, std::span<const Operand> in) const {
  if (!in[0].needs_gradient) return {};
  const Layout x = plain(in[0].shape);
  const auto chosen = planned("gradient of a function", [&] {
    const dnnl::eltwise_backward::desc desc(f_, x, x, alpha_, beta_);
    return dnnl::eltwise_backward::primitive_desc(desc, own_scratchpad(), setting.engine, descriptor(setting, x));
  });
  return {primitive_kernel("backward", Category::backward_pointwise, dnnl::eltwise_backward(chosen),
                           chosen.scratchpad_desc(), 0,
                           {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}, {DNNL_ARG_DIFF_DST, {{Kind::dy, 0}, x}}},
                           {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, x, 1}}}, 2.0 * in[0].shape.count())};
}

}  // namespace isobar::ops
