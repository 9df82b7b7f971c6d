// deconv: transposed convolution over 1 to 3 spatial axes, channels last, like the data gradient of conv.
//   y[n, p*stride + k*dilation - before, o] = b[o] + sum over p, k, i of w[i, o, k] * x[n, p, i]
//   db[o] = sum dy;  dw[i, o, k] = sum over n, p of x[n, p, i] * dy[n, p*stride + k*dilation - before, o];
//   dx = conv of dy with w
// x [N, spatial..., C], w [C, O/groups, kernel...], b [O]: w is the weight of the convolution from y to x, whose
// primitives are used here; forward is split into phases where that is faster.
#include <algorithm>

#include "isobar/base/loops.hpp"
#include "isobar/ops/columns.hpp"
#include "isobar/ops/conv_weights.hpp"
#include "isobar/ops/deconv_phases.hpp"
#include "isobar/ops/layer_weights.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

void add_to_rows(std::int64_t rows, std::int64_t width, const float* b, float* y) {
  const auto part = [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
#pragma omp simd
      for (std::int64_t c = 0; c < width; ++c) y[r * width + c] += b[c];
  };
  in_parts(rows, part, std::max<std::int64_t>(1, loop_part / width));
}

class Deconv final : public Operator {
 public:
  explicit Deconv(Args& args)
      : filters_(args.integer("filters")),
        kernel_(args.integers("kernel", {3})),
        stride_(args.integers("stride", {1})),
        dilation_(args.integers("dilation", {1})),
        output_padding_(args.integers("output_padding", {0})),
        groups_(args.integer("groups", 1)),
        weights_(args),
        bias_(weights_.bias()) {
    const std::string padding = args.text("padding", "valid");
    same_ = padding == "same";
    if (same_ || padding == "valid") {
      before_ = after_ = {0};
      args.require(!args.has("padding_after"), "padding_after needs a numeric padding");
      args.require(!same_ || !args.has("output_padding"), "output_padding follows from padding=same");
    } else {
      before_ = args.integers("padding", {});
      after_ = args.integers("padding_after", before_);
    }
    args.require(filters_ >= 1, "filters must be at least 1");
    args.require(groups_ >= 1 && filters_ % groups_ == 0, "groups must divide filters");
    args.require(all_at_least(kernel_, 1), "kernel must be at least 1");
    args.require(all_at_least(stride_, 1), "stride must be at least 1");
    args.require(all_at_least(dilation_, 1), "dilation must be at least 1");
    args.require(all_at_least(before_, 0) && all_at_least(after_, 0), "padding must be valid, same or numbers >= 0");
    args.require(all_at_least(output_padding_, 0), "output_padding must not be negative");
  }

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    const Inverse inverse = fit(in[0]);
    if (in[0][-1] % groups_ != 0) fail("groups = {} does not divide the {} channels of x", groups_, in[0][-1]);
    Extents extents{in[0][-1], filters_ / groups_};
    extents.insert(extents.end(), inverse.window.kernel.begin(), inverse.window.kernel.end());
    return weights_.parameters(Shape(extents), filters_);
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    if (in[1].rank() != in[0].rank() || in[1][0] != in[0][-1] || in[1][1] * groups_ != filters_)
      fail("x = {} with {} filters in {} groups does not fit w = {}", in[0].str(), filters_, groups_, in[1].str());
    return {fit(in[0]).y};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank() - 1) return std::nullopt;
    const Inverse inverse = fit(in[0]);
    const int a = axis - 1;
    const std::int64_t last = in[0][axis] - 1, stride = inverse.window.stride[a];
    const std::int64_t wide = (inverse.window.kernel[a] - 1) * inverse.window.dilation[a];
    Reach reach{std::vector<Reach::Input>(in.size())};
    reach.in[0].axis = axis;
    for (std::int64_t o = 0; o < inverse.y[axis]; ++o) {
      // Positions from the first to the last that may write element `at` of y without crop. If strides leave gaps, an
      // element in a gap reads the position before it, so that a part begins with what a position writes.
      const std::int64_t at = o + inverse.window.before[a], to = std::min(last, at / stride);
      const std::int64_t from = std::max<std::int64_t>(0, (at - wide + stride - 1) / stride);
      reach.in[0].window.push_back({std::min(from, to), to + 1});
    }
    return reach;
  }

  std::shared_ptr<const Operator> cropped(const Crop& crop) const override {
    const Inverse inverse = fit(crop.in[0]);
    const Window& w = inverse.window;
    auto part = std::make_shared<Deconv>(*this);
    part->same_ = false;
    part->before_ = w.before;
    part->after_ = w.after;
    part->output_padding_.clear();
    for (std::size_t a = 0; a < w.before.size(); ++a) {
      const int axis = static_cast<int>(a) + 1;
      const bool cut = axis == crop.axis;
      const std::int64_t positions = cut ? crop.read[0].extent() : crop.in[0][axis];
      if (cut) part->before_[a] += crop.out.begin - crop.read[0].begin * w.stride[a];
      // How far the positions reach beyond the end of the part, or, if negative, what must be added there.
      const std::int64_t written = (positions - 1) * w.stride[a] + (w.kernel[a] - 1) * w.dilation[a] + 1;
      const std::int64_t beyond = written - part->before_[a] - (cut ? crop.out.extent() : inverse.y[axis]);
      part->after_[a] = std::max<std::int64_t>(0, beyond);
      part->output_padding_.push_back(std::max<std::int64_t>(0, -beyond));
    }
    return part;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in);
    const auto hint = convolution(setting, p);
    if (setting.own_kernels && groups_ == 1) {
      const Layout stored = in[1].layout.is_zero() ? hint.weights_desc() : in[1].layout;
      auto phases = deconv_by_phases(setting, {p.window, in[0].shape, p.out, stored, {Kind::x, 0}, {Kind::y, 0}, bias_},
                                     "forward", Category::forward_convolution, p.flops);
      if (phases) return *phases;
    }
    const auto chosen = planned("transposed convolution", [&] {
      const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct, p.y, p.w, p.x,
                                                       p.window.stride, p.window.gaps(), p.window.before,
                                                       p.window.after);
      return dnnl::convolution_backward_data::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    Kernel kernel = primitive_kernel(
        "forward", Category::forward_convolution, dnnl::convolution_backward_data(chosen), chosen.scratchpad_desc(), 0,
        {{DNNL_ARG_DIFF_DST, {{Kind::x, 0}, p.x}}, {DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}},
        {{DNNL_ARG_DIFF_SRC, {{Kind::y, 0}, p.y}}}, p.flops);
    if (!bias_) return kernel;
    kernel.reads.push_back({{Kind::x, 2}, plain({filters_})});
    kernel.library = false;
    kernel.run = [product = std::move(kernel.run), rows = p.out.count() / filters_, width = filters_](
                     const Moment& moment, std::span<const dnnl::memory> m) {
      std::vector<dnnl::memory> others(m.begin(), m.end());  // the primitive does not take the bias
      others.erase(others.begin() + 2);
      product(moment, others);
      dnnl::stream(moment.stream).wait();
      add_to_rows(rows, width, floats(m[2]), floats(m[3]));
    };
    return kernel;
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in);
    std::vector<Kernel> list;
    if (in[1].needs_gradient) {
      const Layout stored = in[1].layout.is_zero() ? plain(in[1].shape) : in[1].layout;
      auto tiled = setting.own_kernels && groups_ == 1
                       ? tiled_weight_gradient(
                             {p.window, p.out, in[0].shape, {Kind::dy, 0}, {Kind::x, 0}, stored, false, 1, p.flops})
                       : std::nullopt;
      list.push_back(tiled ? std::move(*tiled) : weight_gradient(setting, p));
    }
    if (bias_ && in[2].needs_gradient) list.push_back(bias_gradient(p));
    if (in[0].needs_gradient) list.push_back(data_gradient(setting, p));
    return list;
  }

 private:
  // The convolution from y to x: its window over y, and y.
  struct Inverse {
    Window window;
    Shape y;
  };

  struct Case {
    Window window;
    Layout x, w, y;
    Shape out;
    double flops;
  };

  Inverse fit(const Shape& x) const {
    const int axes = spatial_rank(x);
    Window w{spread(kernel_, axes, "kernel"),
             spread(stride_, axes, "stride"),
             spread(dilation_, axes, "dilation"),
             spread(before_, axes, "padding"),
             spread(after_, axes, "padding_after"),
             {},
             {}};
    Extents extra = spread(output_padding_, axes, "output_padding");
    Shape y = x;
    for (int a = 0; a < axes; ++a) {
      const std::int64_t in = x[a + 1], reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
      if (same_) {  // TensorFlow: stride times as many positions; an odd element is cropped at the end
        const std::int64_t crop = std::max<std::int64_t>(0, reach - w.stride[a]);
        w.before[a] = crop / 2;
        w.after[a] = crop - crop / 2;
        extra[a] = std::max<std::int64_t>(0, w.stride[a] - reach);
      }
      if (extra[a] >= w.stride[a])
        fail("output_padding {} on axis {} must be smaller than the stride of {}", extra[a], a + 1, w.stride[a]);
      const std::int64_t out = (in - 1) * w.stride[a] - w.before[a] - w.after[a] + reach + extra[a];
      if (out < 1) fail("padding {} and {} crop all of x = {} on axis {}", w.before[a], w.after[a], x.str(), a + 1);
      y[a + 1] = out;
      w.out.push_back(in);
      w.overhang.push_back(0);
    }
    y[-1] = filters_;
    return {w, y};
  }

  Case fitted(std::span<const Operand> in) const {
    const Shape &x = in[0].shape, &weights = in[1].shape;
    const Inverse inverse = fit(x);
    Extents axes = weights.extents();
    if (groups_ > 1) {
      axes[0] /= groups_;
      axes.insert(axes.begin(), groups_);
    }
    return {inverse.window,           channels_last(x), any_layout(axes),
            channels_last(inverse.y), inverse.y,        2.0 * x.count() * weights.count(1, weights.rank())};
  }

  static dnnl::convolution_forward::primitive_desc convolution(const Setting& setting, const Case& p) {
    return planned("data gradient of a transposed convolution", [&] {
      const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
                                                 p.y, p.w, p.x, p.window.stride, p.window.gaps(), p.window.before,
                                                 p.window.after);
      return dnnl::convolution_forward::primitive_desc(desc, own_scratchpad(), setting.engine);
    });
  }

  static Kernel weight_gradient(const Setting& setting, const Case& p) {
    const auto hint = convolution(setting, p);
    const auto chosen = planned("weight gradient of a transposed convolution", [&] {
      const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct, p.y, p.w, p.x,
                                                          p.window.stride, p.window.gaps(), p.window.before,
                                                          p.window.after);
      return weight_gradient_descriptor(desc, setting.engine, hint);
    });
    return primitive_kernel("weight gradient", Category::backward_convolution,
                            dnnl::convolution_backward_weights(chosen), chosen.scratchpad_desc(), 1,
                            {{DNNL_ARG_SRC, {{Kind::dy, 0}, p.y}}, {DNNL_ARG_DIFF_DST, {{Kind::x, 0}, p.x}}},
                            {{DNNL_ARG_DIFF_WEIGHTS, {{Kind::dx, 1}, chosen.diff_weights_desc()}}}, p.flops);
  }

  Kernel bias_gradient(const Case& p) const {
    Kernel kernel{"bias gradient", Category::backward_pointwise};
    kernel.flops = static_cast<double>(p.out.count());
    kernel.reads = {{{Kind::dy, 0}, p.y}};
    kernel.writes = {{{Kind::dx, 2}, plain({filters_})}};
    kernel.run = [rows = p.out.count() / filters_, width = filters_](const Moment&, std::span<const dnnl::memory> m) {
      sum_rows(rows, width, floats(m[0]), floats(m[1]));
    };
    return kernel;
  }

  static Kernel data_gradient(const Setting& setting, const Case& p) {
    const auto chosen = convolution(setting, p);
    return primitive_kernel(
        "data gradient", Category::backward_convolution, dnnl::convolution_forward(chosen), chosen.scratchpad_desc(), 2,
        {{DNNL_ARG_SRC, {{Kind::dy, 0}, p.y}}, {DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}},
        {{DNNL_ARG_DST, {{Kind::dx, 0}, p.x}}}, p.flops);
  }

  std::int64_t filters_;
  Extents kernel_, stride_, dilation_, before_, after_, output_padding_;
  bool same_ = false;
  std::int64_t groups_;
  LayerWeights weights_;
  bool bias_;
};

}  // namespace

extern const OperatorRow deconv{
    "deconv",
    "transposed convolution over 1 to 3 spatial axes: groups, stride, dilation, any padding",
    make_member<Deconv>,
    {
        {"deconv(filters=16, kernel=3, stride=2, padding=same)", {{1, 5, 4, 32}}},
        {"deconv(filters=3, kernel=5, stride=2, padding=same, bias=false)", {{2, 4, 3, 5}}},
        {"deconv(filters=4, kernel=2, stride=3, padding=same)", {{1, 3, 4, 2}}},
        {"deconv(filters=4, kernel=3, stride=2, padding=1, output_padding=1)", {{1, 3, 2, 3, 6}}},
        {"deconv(filters=6, kernel=[3, 2], stride=[2, 1], padding=[1, 0], padding_after=[0, 1], groups=2)",
         {{2, 4, 5, 4}}},
        {"deconv(filters=5, kernel=3, dilation=2)", {{2, 4, 3}}},
        {"deconv(filters=32, kernel=2, stride=2)", {{1, 3, 3, 3, 16}}},
        {"deconv(filters=4, kernel=1, stride=2)", {{4, 8, 8, 16}}},
    }};

}  // namespace isobar::ops
