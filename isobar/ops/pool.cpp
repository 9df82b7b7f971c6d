#include "isobar/ops/pool.hpp"

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

using Kind = Slot::Kind;

Window Pool::fit(const Shape& x) const {
  const Window w = window_.fit(x);
  for (std::size_t a = 0; a < w.kernel.size(); ++a) {
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    if (w.before[a] >= reach || w.after[a] >= reach)
      fail("padding {} and {} on axis {} must be smaller than the window of {}", w.before[a], w.after[a], a + 1, reach);
  }
  return w;
}

std::vector<Shape> Pool::infer(std::span<const Shape> in) const {
  const Window w = fit(in[0]);
  Shape y = in[0];
  for (std::size_t a = 0; a < w.out.size(); ++a) y[static_cast<int>(a) + 1] = w.out[a];
  return {y};
}

std::shared_ptr<const Operator> Pool::absorb(const Pointwise& next) const {
  if (after_) return nullptr;
  auto fused = std::make_shared<Pool>(*this);
  fused->after_ = next;
  return fused;
}

dnnl::pooling_v2_forward::primitive_desc Pool::forward_descriptor(const Setting& setting, const Shape& x) const {
  const Window w = fit(x);
  const auto prop =
      setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  return planned("pooling", [&] {
    const dnnl::pooling_v2_forward::desc desc(prop, algorithm_, channels_last(x),
                                              channels_last(infer(std::span(&x, 1))[0]), w.stride, w.kernel, w.gaps(),
                                              w.before, w.after);
    return dnnl::pooling_v2_forward::primitive_desc(desc, with_post_op(after_), setting.engine);
  });
}

Kernel Pool::forward(const Setting& setting, std::span<const Operand> in) const {
  const auto chosen = forward_descriptor(setting, in[0].shape);
  std::vector<Argument> writes{{DNNL_ARG_DST, {{Kind::y, 0}, chosen.dst_desc()}}};
  if (chosen.workspace_desc().get_size() > 0)
    writes.push_back({DNNL_ARG_WORKSPACE, {{Kind::saved, 0}, chosen.workspace_desc()}});
  return primitive_kernel("forward", Category::forward_pointwise, dnnl::pooling_v2_forward(chosen),
                          chosen.scratchpad_desc(), 0, {{DNNL_ARG_SRC, {{Kind::x, 0}, chosen.src_desc()}}},
                          std::move(writes),
                          static_cast<double>(padded_count(chosen.dst_desc()) * fit(in[0].shape).volume()));
}

std::vector<Kernel> Pool::backward(const Setting& setting, std::span<const Operand> in) const {
  if (!in[0].needs_gradient) return {};
  const Window w = fit(in[0].shape);
  const auto hint = forward_descriptor(setting, in[0].shape);
  const Layout x = hint.src_desc(), y = hint.dst_desc();
  std::vector<Kernel> list;
  const Slot dz = gradient_through(after_, setting, y, list);
  const auto chosen = planned("gradient of pooling", [&] {
    const dnnl::pooling_v2_backward::desc desc(algorithm_, x, y, w.stride, w.kernel, w.gaps(), w.before, w.after);
    return dnnl::pooling_v2_backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
  });
  std::vector<Argument> reads{{DNNL_ARG_DIFF_DST, {dz, y}}};
  if (chosen.workspace_desc().get_size() > 0)
    reads.push_back({DNNL_ARG_WORKSPACE, {{Kind::saved, 0}, chosen.workspace_desc()}});
  list.push_back(primitive_kernel(
      "backward", Category::backward_pointwise, dnnl::pooling_v2_backward(chosen), chosen.scratchpad_desc(), 1,
      std::move(reads), {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, x}}}, static_cast<double>(padded_count(y) * w.volume())));
  return list;
}

}  // namespace isobar::ops
