#include "isobar/ops/eltwise.hpp"

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

using Kind = Slot::Kind;

Kernel Eltwise::forward(const Setting& setting, std::span<const Operand> in) const {
  const Layout x = plain(in[0].shape);
  const auto prop =
      setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  const auto chosen = planned("activation", [&] {
    const dnnl::eltwise_forward::desc desc(prop, f_.forward, x, f_.alpha, f_.beta);
    return dnnl::eltwise_forward::primitive_desc(desc, own_scratchpad(), setting.engine);
  });
  return primitive_kernel("forward", Category::forward_pointwise, dnnl::eltwise_forward(chosen),
                          chosen.scratchpad_desc(), 0, {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}},
                          {{DNNL_ARG_DST, {{Kind::y, 0}, x, 0}}}, static_cast<double>(in[0].shape.count()));
}

std::vector<Kernel> Eltwise::backward(const Setting& setting, std::span<const Operand> in) const {
  if (!in[0].needs_gradient) return {};
  std::vector<Kernel> list;
  gradient_through(f_, setting, plain(in[0].shape), list);
  list.back().writes[0].slot = {Kind::dx, 0};
  return list;
}

}  // namespace isobar::ops
