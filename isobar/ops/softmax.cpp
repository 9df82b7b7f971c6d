// softmax over the last axis:
//   y_c = exp(x_c) / sum over d of exp(x_d);  dx_c = y_c * (dy_c - sum over d of dy_d * y_d)
#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class Softmax final : public Operator {
 public:
  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[0].rank() < 2) fail("x = {} must be [batch, ..., classes]", in[0].str());
    return {in[0]};
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const auto chosen = forward_descriptor(setting, in[0].shape);
    const Layout x = plain(in[0].shape);
    return primitive_kernel("forward", Category::forward_pointwise, dnnl::softmax_forward(chosen),
                            chosen.scratchpad_desc(), 0, {{DNNL_ARG_SRC, {{Kind::x, 0}, x}}},
                            {{DNNL_ARG_DST, {{Kind::y, 0}, x, 0}}}, 4.0 * static_cast<double>(in[0].shape.count()));
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    if (!in[0].needs_gradient) return {};
    const Layout x = plain(in[0].shape);
    const auto hint = forward_descriptor(setting, in[0].shape);
    const auto chosen = planned("gradient of softmax", [&] {
      const dnnl::softmax_backward::desc desc(x, x, in[0].shape.rank() - 1);
      return dnnl::softmax_backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return {primitive_kernel(
        "backward", Category::backward_pointwise, dnnl::softmax_backward(chosen), chosen.scratchpad_desc(), 1,
        {{DNNL_ARG_DST, {{Kind::y, 0}, x}}, {DNNL_ARG_DIFF_DST, {{Kind::dy, 0}, x}}},
        {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, x, 1}}}, 4.0 * static_cast<double>(in[0].shape.count()))};
  }

 private:
  dnnl::softmax_forward::primitive_desc forward_descriptor(const Setting& setting, const Shape& x) const {
    const auto prop =
        setting.phase == Phase::training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    return planned("softmax", [&] {
      const dnnl::softmax_forward::desc desc(prop, plain(x), x.rank() - 1);
      return dnnl::softmax_forward::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
  }
};

}  // namespace

extern const OperatorRow softmax;
const OperatorRow softmax{
    "softmax", "probabilities over the last axis",
    [](Args&) -> std::unique_ptr<Operator> { return std::make_unique<Softmax>(); },
    [] {
      return std::vector<Problem>{{"softmax", {{3, 5}}}, {"softmax", {{2, 3, 4, 3}}}, {"softmax", {{1, 2, 17}}}};
    }};

}  // namespace isobar::ops
