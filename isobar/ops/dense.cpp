// dense: a full linear map of the features (the last axis); all axes before it count as one, n.
//   y[n, o] = f(b[o] + sum over k of w[o, k] * x[n, k]);  f by fusion
//   db[o] = sum over n of dz[n, o];  dw[o, k] = sum over n of dz[n, o] * x[n, k];
//   dx[n, k] = sum over o of dz[n, o] * w[o, k];  dz = dy * f'(y)
// x [N..., K], y [N..., O], w [O, K], b [O]. One layout of w serves all three products. Measured with w 128 x 32768 on
// 2 threads, sum of the three in ms, plain against blocked: batch 1: 2.7, 4.1; 4: 4.1, 4.9; 8: 5.8, 5.3; 32: 13.1, 7.6.
#include <string_view>

#include "isobar/ops/conv_weights.hpp"
#include "isobar/ops/layer_weights.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/weight_sums.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

constexpr std::int64_t least_batch_for_blocks = 8;
constexpr std::int64_t least_rows_for_tiles = 128;  // below this, reading and writing dw takes most of the time

bool is_slow(const char* implementation) { return std::string_view(implementation).starts_with("ref"); }

// Tries the stored layout; if oneDNN has only its reference loops for that, the layout oneDNN prefers.
template <class Make>
auto with_stored(const Layout& stored, const Layout& free, const char* what, Make&& make) {
  return planned(what, [&] {
    auto chosen = make(stored);
    return is_slow(chosen.impl_info_str()) ? make(free) : chosen;
  });
}

class Dense final : public Operator {
 public:
  explicit Dense(Args& args) : units_(args.integer("units")), weights_(args), bias_(weights_.bias()) {
    args.require(units_ >= 1, "units must be at least 1");
  }

  std::vector<Parameter> parameters(std::span<const Shape> in) const override {
    check(in[0]);
    return weights_.parameters({units_, in[0][-1]}, units_);
  }

  std::vector<Shape> infer(std::span<const Shape> in) const override {
    check(in[0]);
    if (in[1] != Shape{units_, in[0][-1]})
      fail("x = {} with {} units does not fit w = {}", in[0].str(), units_, in[1].str());
    Shape y = in[0];
    y[-1] = units_;
    return {y};
  }

  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override {
    if (axis == in[0].rank() - 1) return std::nullopt;
    return same_elements(axis, in);
  }

  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override {
    if (after_) return nullptr;
    auto fused = std::make_shared<Dense>(*this);
    fused->after_ = next;
    return fused;
  }

  Kernel forward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in);
    const auto chosen = forward_descriptor(setting, p);
    std::vector<Argument> reads{{DNNL_ARG_SRC, {{Kind::x, 0}, p.x}},
                                {DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}};
    if (bias_) reads.push_back({DNNL_ARG_BIAS, {{Kind::x, 2}, p.b}});
    return primitive_kernel("forward", Category::forward_convolution, dnnl::inner_product_forward(chosen),
                            chosen.scratchpad_desc(), 0, std::move(reads), {{DNNL_ARG_DST, {{Kind::y, 0}, p.y}}},
                            p.flops);
  }

  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override {
    const Case p = fitted(in);
    std::vector<Kernel> list;
    const Slot dz = gradient_through(after_, setting, p.y, list);
    if (in[1].needs_gradient || (bias_ && in[2].needs_gradient)) {
      auto own = setting.own_kernels && suits_tiles(in, p) ? tiled_gradient(in, p, dz) : std::nullopt;
      list.push_back(own ? std::move(*own) : weight_gradient(setting, p, dz));
    }
    if (in[0].needs_gradient) list.push_back(data_gradient(setting, p, dz));
    return list;
  }

 private:
  struct Case {
    Layout x, w, free_w, b, y;
    double flops;
  };

  static void check(const Shape& x) {
    if (x.rank() < 2) fail("x = {} must be [batch, ..., features]", x.str());
  }

  Case fitted(std::span<const Operand> in) const {
    const Shape& w = in[1].shape;
    const std::int64_t rows = in[0].shape.count() / w[1];
    const Layout x = plain({rows, w[1]}), y = plain({rows, units_}), free_w = any_layout(w.extents());
    Case p{x, in[1].layout, free_w, plain({units_}), y, 2.0 * (rows * w.count())};
    if (p.w.is_zero()) p.w = rows < least_batch_for_blocks ? plain(w) : free_w;
    return p;
  }

  dnnl::inner_product_forward::primitive_desc forward_descriptor(const Setting& setting, const Case& p) const {
    return with_stored(p.w, p.free_w, "dense", [&](const Layout& w) {
      const dnnl::inner_product_forward::desc desc(forward_kind(setting.phase), p.x, w, bias_ ? p.b : Layout(), p.y);
      return dnnl::inner_product_forward::primitive_desc(desc, with_post_op(after_), setting.engine);
    });
  }

  static bool suits_tiles(std::span<const Operand> in, const Case& p) {
    return in[0].shape.count() / in[1].shape[1] >= least_rows_for_tiles && WeightSums::fits(p.w);
  }

  // As in a convolution with one pixel in its window.
  std::optional<Kernel> tiled_gradient(std::span<const Operand> in, const Case& p, Slot dz) const {
    const Extents one{1}, none{0};
    const std::int64_t rows = in[0].shape.count() / in[1].shape[1];
    const Window window{one, one, one, none, none, none, {rows}};
    return tiled_weight_gradient(
        {window, {1, rows, in[1].shape[1]}, {1, rows, units_}, {Kind::x, 0}, dz, p.w, bias_, 1, p.flops});
  }

  Kernel weight_gradient(const Setting& setting, const Case& p, Slot dz) const {
    const auto hint = forward_descriptor(setting, p);
    const auto chosen = with_stored(p.w, p.free_w, "weight gradient of dense", [&](const Layout& w) {
      const dnnl::inner_product_backward_weights::desc desc(p.x, w, bias_ ? p.b : Layout(), p.y);
      return dnnl::inner_product_backward_weights::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    std::vector<Argument> writes{{DNNL_ARG_DIFF_WEIGHTS, {{Kind::dx, 1}, chosen.diff_weights_desc()}}};
    if (bias_) writes.push_back({DNNL_ARG_DIFF_BIAS, {{Kind::dx, 2}, p.b}});
    return primitive_kernel("weight gradient", Category::backward_convolution,
                            dnnl::inner_product_backward_weights(chosen), chosen.scratchpad_desc(), 1,
                            {{DNNL_ARG_SRC, {{Kind::x, 0}, p.x}}, {DNNL_ARG_DIFF_DST, {dz, p.y}}}, std::move(writes),
                            p.flops);
  }

  Kernel data_gradient(const Setting& setting, const Case& p, Slot dz) const {
    const auto hint = forward_descriptor(setting, p);
    const auto chosen = with_stored(p.w, p.free_w, "data gradient of dense", [&](const Layout& w) {
      const dnnl::inner_product_backward_data::desc desc(p.x, w, p.y);
      return dnnl::inner_product_backward_data::primitive_desc(desc, own_scratchpad(), setting.engine, hint);
    });
    return primitive_kernel("data gradient", Category::backward_convolution, dnnl::inner_product_backward_data(chosen),
                            chosen.scratchpad_desc(), 2,
                            {{DNNL_ARG_WEIGHTS, {{Kind::x, 1}, chosen.weights_desc()}}, {DNNL_ARG_DIFF_DST, {dz, p.y}}},
                            {{DNNL_ARG_DIFF_SRC, {{Kind::dx, 0}, p.x}}}, p.flops);
  }

  std::int64_t units_;
  LayerWeights weights_;
  bool bias_;
  std::optional<Pointwise> after_;
};

}  // namespace

extern const OperatorRow dense{"dense",
                               "full linear map of the features",
                               make_member<Dense>,
                               {
                                   {"dense(units=3)", {{2, 5}}},
                                   {"dense(units=17, bias=false)", {{1, 33}}},
                                   {"dense(units=16)", {{9, 32}}},
                                   {"dense(units=5)", {{11, 7}}},
                                   {"dense(units=4)", {{2, 3, 5}}},
                                   {"dense(units=3, bias=false)", {{1, 2, 3, 2, 4}}},
                               }};

}  // namespace isobar::ops
