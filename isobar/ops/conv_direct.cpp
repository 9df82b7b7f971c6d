// The row `direct`: oneDNN's convolution primitives, which always apply; the other methods are compared with them.
#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

dnnl::convolution_forward::primitive_desc forward_descriptor(const Setting& setting, const ConvCase& p) {
  return planned("convolution", [&] {
    const dnnl::convolution_forward::desc desc(forward_kind(p.phase), dnnl::algorithm::convolution_direct, p.x_layout,
                                               p.w, p.b, p.y_layout, p.window.stride, p.window.gaps(), p.window.before,
                                               p.window.after);
    return dnnl::convolution_forward::primitive_desc(desc, with_post_op(p.after), setting.engine);
  });
}

Kernel forward(const Setting& setting, const ConvCase& p) {
  const auto chosen = forward_descriptor(setting, p);
  std::vector<Argument> reads{{DNNL_ARG_SRC, {{Kind::x, 0}, p.x_layout}},
                              {DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}};
  if (p.bias) reads.push_back({DNNL_ARG_BIAS, {{Kind::x, 2}, p.b}});
  return primitive_kernel("forward", Category::forward_convolution, dnnl::convolution_forward(chosen),
                          chosen.scratchpad_desc(), p.temporary, std::move(reads),
                          {{DNNL_ARG_DST, {{Kind::y, 0}, p.y_layout}}}, p.flops);
}

Kernel weight_gradient(const Setting& setting, const ConvCase& p) {
  const auto hint = forward_descriptor(setting, p);
  const auto chosen = planned("weight gradient of a convolution", [&] {
    const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, p.x_layout, p.w, p.b,
                                                        p.y_layout, p.window.stride, p.window.gaps(), p.window.before,
                                                        p.window.after);
    return weight_gradient_descriptor(desc, setting.engine, hint);
  });
  std::vector<Argument> writes{{DNNL_ARG_DIFF_WEIGHTS, {{Kind::dx, 1}, chosen.diff_weights_desc()}}};
  if (p.bias) writes.push_back({DNNL_ARG_DIFF_BIAS, {{Kind::dx, 2}, p.b}});
  return primitive_kernel("weight gradient", Category::backward_convolution, dnnl::convolution_backward_weights(chosen),
                          chosen.scratchpad_desc(), p.temporary,
                          {{DNNL_ARG_SRC, {{Kind::x, 0}, p.x_layout}}, {DNNL_ARG_DIFF_DST, {p.dz, p.y_layout}}},
                          std::move(writes), p.flops);
}

Kernel data_gradient(const Setting& setting, const ConvCase& p) {
  const auto hint = forward_descriptor(setting, p);
  const auto chosen = planned("data gradient of a convolution", [&] {
    const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, p.x_layout, p.w, p.y_layout,
                                                     p.window.stride, p.window.gaps(), p.window.before, p.window.after);
    return dnnl::convolution_backward_data::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
  });
  return primitive_kernel(
      "data gradient", Category::backward_convolution, dnnl::convolution_backward_data(chosen),
      chosen.scratchpad_desc(), p.temporary,
      {{DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}, {DNNL_ARG_DIFF_DST, {p.dz, p.y_layout}}},
      {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, p.x_layout}}}, p.flops);
}

std::optional<std::vector<Kernel>> make_direct(const Setting& setting, const ConvCase& p, Direction direction) {
  switch (direction) {
    case Direction::forward: return one_kernel(forward(setting, p));
    case Direction::data_gradient: return one_kernel(data_gradient(setting, p));
    case Direction::weight_gradient: return one_kernel(weight_gradient(setting, p));
  }
  return std::nullopt;
}

}  // namespace

extern const ConvMethod conv_direct{"direct", "oneDNN's convolution primitives", make_direct,
                                    [](const ConvCase&, Direction) { return true; }};

}  // namespace isobar::ops
