// layer_norm: normalises every row (the axes from `axis` on) to mean 0 and variance 1, then scales and shifts.
//   y = w * h + b,  h = (x - mean) * r,  r = 1 / sqrt(variance + eps), statistics over the K numbers of the row
//   dw = sum over rows of dy*h;  db = sum over rows of dy;  dx = r * (g - sum g / K - h * sum g*h / K),  g = w * dy
// x [rows..., axes...]; w, b [axes...]. Mean and variance of each row are saved.
#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

class LayerNorm final : public Operator {
 public:
  explicit LayerNorm(Args& args)
      : axis_(args.integer("axis", -1)),
        eps_(args.real("eps", 1e-5)),
        scale_(args.flag("scale", true)),
        shift_(args.flag("shift", true)) {
    args.require(eps_ > 0, "eps must be above 0");
  }

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    const Shape row = row_shape(in[0]);
    std::vector<Parameter> list;
    if (scale_) list.push_back({"w", row, "constant(value=1)"});
    if (shift_) list.push_back({"b", row, "constant(value=0)"});
    return list;
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    const Shape row = row_shape(in[0]);
    for (std::size_t i = 1; i < in.size(); ++i)
      if (in[i] != row) fail("x = {} does not fit a weight of {}", in[0].str(), in[i].str());
    return {in[0]};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis >= in[0].rank() - row_shape(in[0]).rank()) return std::nullopt;
    return same_elements(axis, in);
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Layout x = plain(in[0].shape);
    const auto chosen = forward_descriptor(setting, in[0].shape);
    std::vector<Argument> reads{{DNNL_ARG_SRC, {{Kind::x, 0}, x}}};
    add_weights(in, reads);
    std::vector<Argument> writes{{DNNL_ARG_DST, {{Kind::y, 0}, x, 0}}};
    if (setting.phase == Phase::training) {
      writes.push_back({DNNL_ARG_MEAN, {{Kind::saved, 0}, chosen.mean_desc()}});
      writes.push_back({DNNL_ARG_VARIANCE, {{Kind::saved, 1}, chosen.variance_desc()}});
    }
    return primitive_kernel("forward", Category::forward_pointwise, dnnl::layer_normalization_forward(chosen),
                            chosen.scratchpad_desc(), 0, std::move(reads), std::move(writes),
                            7.0 * in[0].shape.count());
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Layout x = plain(in[0].shape), seen = view(in[0].shape);
    const bool weights = std::any_of(in.begin() + 1, in.end(), [](const Operand& o) { return o.needs_gradient; });
    const auto hint = forward_descriptor(setting, in[0].shape);
    const auto chosen = planned("gradient of layer_norm", [&] {
      const auto prop = weights ? dnnl::prop_kind::backward : dnnl::prop_kind::backward_data;
      const dnnl::layer_normalization_backward::desc desc(prop, seen, seen, static_cast<float>(eps_), flags());
      return dnnl::layer_normalization_backward::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    std::vector<Argument> reads{{DNNL_ARG_SRC, {{Kind::x, 0}, x}},
                                {DNNL_ARG_DIFF_DST, {{Kind::dy, 0}, x}},
                                {DNNL_ARG_MEAN, {{Kind::saved, 0}, hint.mean_desc()}},
                                {DNNL_ARG_VARIANCE, {{Kind::saved, 1}, hint.variance_desc()}}};
    add_weights(in, reads);
    std::vector<Argument> writes;
    if (weights && scale_) writes.push_back({DNNL_ARG_DIFF_SCALE, {{Kind::dx, 1}, plain(in[1].shape)}});
    if (weights && shift_) writes.push_back({DNNL_ARG_DIFF_SHIFT, {{Kind::dx, scale_ ? 2 : 1}, plain(in[1].shape)}});
    writes.push_back({DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, x}});
    return {primitive_kernel("backward", Category::backward_pointwise, dnnl::layer_normalization_backward(chosen),
                             chosen.scratchpad_desc(), 1, std::move(reads), std::move(writes),
                             11.0 * in[0].shape.count())};
  }

 private:
  Shape row_shape(const Shape& x) const {
    const std::int64_t axis = axis_ < 0 ? axis_ + x.rank() : axis_;
    if (axis < 1 || axis >= x.rank()) fail("axis = {} of x = {} must come after the batch", axis_, x.str());
    return Shape(std::vector<std::int64_t>(x.extents().begin() + axis, x.extents().end()));
  }

  Layout view(const Shape& x) const {
    const std::int64_t length = row_shape(x).count();
    return plain({x.count() / length, length});
  }

  dnnl::normalization_flags flags() const {
    auto chosen = dnnl::normalization_flags::none;
    if (scale_) chosen |= dnnl::normalization_flags::use_scale;
    if (shift_) chosen |= dnnl::normalization_flags::use_shift;
    return chosen;
  }

  void add_weights(std::span<const Operand> in, std::vector<Argument>& reads) const {
    if (scale_) reads.push_back({DNNL_ARG_SCALE, {{Kind::x, 1}, plain(in[1].shape)}});
    if (shift_) reads.push_back({DNNL_ARG_SHIFT, {{Kind::x, scale_ ? 2 : 1}, plain(in[1].shape)}});
  }

  dnnl::layer_normalization_forward::primitive_desc forward_descriptor(const Setting& setting, const Shape& x) const {
    return planned("layer_norm", [&] {
      const dnnl::layer_normalization_forward::desc desc(forward_kind(setting.phase), view(x), static_cast<float>(eps_),
                                                         flags());
      return dnnl::layer_normalization_forward::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
  }

  std::int64_t axis_;
  double eps_;
  bool scale_, shift_;
};

}  // namespace

extern const OperatorRow layer_norm{"layer_norm",
                                    "every row brought to mean 0 and variance 1, then scaled and shifted",
                                    make_member<LayerNorm>,
                                    {
                                        {"layer_norm", {{3, 6}}},
                                        {"layer_norm", {{2, 3, 33}}},
                                        {"layer_norm(axis=1, eps=0.001)", {{3, 2, 5}}},
                                        {"layer_norm(scale=false)", {{2, 4, 5}}},
                                        {"layer_norm(shift=false)", {{2, 2, 2, 8}}},
                                        {"layer_norm(axis=-2, scale=false, shift=false)", {{2, 3, 5}}},
                                    }};

}  // namespace isobar::ops
