// max_pool and average_pool: a window slides over 1 to 3 spatial axes and yields one number per channel. Windows that
// cover every number once use our own loops (pool_tiles.hpp), the others oneDNN. For oneDNN, a last window that reaches
// beyond the padding (`ceil`) is padded further; where padding counts in a mean, oneDNN counts this padding too, so the
// mean is corrected.
#include <algorithm>

#include "isobar/base/loops.hpp"
#include "isobar/ops/lanes.hpp"
#include "isobar/ops/op.hpp"
#include "isobar/ops/pool_tiles.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/window.hpp"

namespace isobar::ops {
namespace {

using Kind = Slot::Kind;

// y[n, p, c] = f(the maximum or mean of x[n, window at p, c]), with a fused f; for maxima, their places are saved.
class Pool final : public Operator {
 public:
  Pool(Args& args, dnnl::algorithm algorithm) : window_(args, "window", true), algorithm_(algorithm) {}

  std::vector<Shape> infer(std::span<const Shape> in) const override;
  Kernel forward(const Setting& setting, std::span<const Operand> in) const override;
  std::vector<Kernel> backward(const Setting& setting, std::span<const Operand> in) const override;
  bool selects_maximum() const override { return algorithm_ == dnnl::algorithm::pooling_max; }
  std::shared_ptr<const Operator> absorb(const Pointwise& next) const override;
  std::optional<Reach> reach(int axis, std::span<const Shape> in) const override;
  std::shared_ptr<const Operator> cropped(const Crop& crop) const override;

 private:
  Window fit(const Shape& x) const;
  std::optional<PoolTiles> own_tiles(const Setting& setting, const Shape& x) const;
  Kernel own_forward(PoolTiles tiles, bool training, const Shape& x) const;
  Kernel own_backward(PoolTiles tiles, const Shape& x) const;
  std::vector<float> corrections(const Shape& x) const;
  dnnl::pooling_v2_forward::primitive_desc forward_descriptor(const Setting& setting, const Shape& x) const;

  WindowSpec window_;
  dnnl::algorithm algorithm_;
  std::optional<Pointwise> after_;
};

// to[row] = from[row] * factor of the row's position; one row has `channels` numbers.
void scale_positions(const std::vector<float>& factors, std::int64_t rows, std::int64_t channels, const float* from,
                     float* to) {
  const auto positions = std::ssize(factors);
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const float factor = factors[r % positions];
      for (std::int64_t c = r * channels; c < (r + 1) * channels; ++c) to[c] = from[c] * factor;
    }
  };
  in_parts(rows, part, std::max<std::int64_t>(1, loop_part / channels));
}

Window Pool::fit(const Shape& x) const {
  Window w = window_.fit(x);
  for (std::size_t a = 0; a < w.kernel.size(); ++a) {
    const std::int64_t reach = (w.kernel[a] - 1) * w.dilation[a] + 1;
    if (w.before[a] >= reach || w.after[a] >= reach)
      fail("padding {} and {} on axis {} must be smaller than the window of {}", w.before[a], w.after[a], a + 1, reach);
    w.after[a] += w.overhang[a];
  }
  return w;
}

// The factors that correct the means of all positions; empty if all means are right.
std::vector<float> Pool::corrections(const Shape& x) const {
  const Window w = fit(x);
  const bool none = std::all_of(w.overhang.begin(), w.overhang.end(), [](std::int64_t o) { return o == 0; });
  if (none || algorithm_ != dnnl::algorithm::pooling_avg_include_padding) return {};
  std::vector<float> factors{1};
  for (std::size_t a = 0; a < w.out.size(); ++a) {
    const std::int64_t end = x[a + 1] + w.before[a] + w.after[a] - w.overhang[a];
    std::vector<float> next;
    for (const float outer : factors)
      for (std::int64_t p = 0; p < w.out[a]; ++p) {
        std::int64_t counted = 0;
        for (std::int64_t k = 0; k < w.kernel[a]; ++k) counted += p * w.stride[a] + k * w.dilation[a] < end;
        next.push_back(outer * static_cast<float>(w.kernel[a]) / static_cast<float>(counted));
      }
    factors = std::move(next);
  }
  return factors;
}

std::vector<Shape> Pool::infer(std::span<const Shape> in) const {
  const Window w = fit(in[0]);
  Shape y = in[0];
  for (std::size_t a = 0; a < w.out.size(); ++a) y[a + 1] = w.out[a];
  return {y};
}

std::shared_ptr<const Operator> Pool::absorb(const Pointwise& next) const {
  const bool corrects = window_.hangs_over() && algorithm_ == dnnl::algorithm::pooling_avg_include_padding;
  if (after_ || corrects) return nullptr;
  auto fused = std::make_shared<Pool>(*this);
  fused->after_ = next;
  return fused;
}

std::optional<Reach> Pool::reach(int axis, std::span<const Shape> in) const {
  if (axis == in[0].rank() - 1) return same_elements(axis, in);
  return window_reach(fit(in[0]), axis, in);
}

std::shared_ptr<const Operator> Pool::cropped(const Crop& crop) const {
  if (crop.axis == crop.in[0].rank() - 1) return nullptr;
  auto part = std::make_shared<Pool>(*this);
  part->window_ = window_.cropped(crop);
  return part;
}

dnnl::pooling_v2_forward::primitive_desc Pool::forward_descriptor(const Setting& setting, const Shape& x) const {
  const Window w = fit(x);
  return planned("pooling", [&] {
    const dnnl::pooling_v2_forward::desc desc(forward_kind(setting.phase), algorithm_, channels_last(x),
                                              channels_last(infer(std::span(&x, 1))[0]), w.stride, w.kernel, w.gaps(),
                                              w.before, w.after);
    return dnnl::pooling_v2_forward::primitive_desc(desc, with_post_op(after_), setting.engine);
  });
}

std::optional<PoolTiles> Pool::own_tiles(const Setting& setting, const Shape& x) const {
  const Window w = fit(x);
  const bool relu_or_none = !after_ || after_->forward == dnnl::algorithm::eltwise_relu;
  if (!setting.own_kernels || !relu_or_none || !PoolTiles::suits(x, w)) return std::nullopt;
  return PoolTiles(selects_maximum(), x, w, after_ ? after_->alpha : 1.0f);
}

Kernel Pool::own_forward(PoolTiles tiles, bool training, const Shape& x) const {
  const Shape y = infer(std::span(&x, 1))[0];
  Kernel kernel{"forward", Category::forward_pointwise};
  kernel.flops = static_cast<double>(y.count() * fit(x).volume());
  kernel.reads = {{{Kind::x, 0}, channels_last(x)}};
  kernel.writes = {{{Kind::y, 0}, channels_last(y)}};
  const bool places = training && selects_maximum();
  if (places) kernel.writes.push_back({{Kind::saved, 0}, plain(y, Dtype::u8)});
  kernel.run = [places, pool = std::move(tiles)](const Moment&, std::span<const dnnl::memory> m) {
    pool.forward(floats(m[0]), floats(m[1]), places ? bytes(m[2]) : nullptr);
  };
  return kernel;
}

Kernel Pool::own_backward(PoolTiles tiles, const Shape& x) const {
  const Shape y = infer(std::span(&x, 1))[0];
  const bool maximum = selects_maximum(), sloped = after_.has_value();
  Kernel kernel{"backward", Category::backward_pointwise};
  kernel.flops = static_cast<double>(y.count() * fit(x).volume());
  kernel.reads = {{{Kind::dy, 0}, channels_last(y)}};
  if (maximum) kernel.reads.push_back({{Kind::saved, 0}, plain(y, Dtype::u8)});
  if (sloped) kernel.reads.push_back({{Kind::y, 0}, channels_last(y)});
  kernel.writes = {{{Kind::dx, 0}, channels_last(x)}};
  kernel.run = [=, pool = std::move(tiles)](const Moment&, std::span<const dnnl::memory> m) {
    pool.backward(floats(m[0]), sloped ? floats(m[maximum ? 2 : 1]) : nullptr, maximum ? bytes(m[1]) : nullptr,
                  floats(m.back()));
  };
  return kernel;
}

Kernel Pool::forward(const Setting& setting, std::span<const Operand> in) const {
  if (auto tiles = own_tiles(setting, in[0].shape))
    return own_forward(std::move(*tiles), setting.phase == Phase::training, in[0].shape);
  const auto chosen = forward_descriptor(setting, in[0].shape);
  std::vector<Argument> writes{{DNNL_ARG_DST, {{Kind::y, 0}, chosen.dst_desc()}}};
  if (chosen.workspace_desc().get_size() > 0)
    writes.push_back({DNNL_ARG_WORKSPACE, {{Kind::saved, 0}, chosen.workspace_desc()}});
  Kernel kernel = primitive_kernel("forward", Category::forward_pointwise, dnnl::pooling_v2_forward(chosen),
                                   chosen.scratchpad_desc(), 0, {{DNNL_ARG_SRC, {{Kind::x, 0}, chosen.src_desc()}}},
                                   std::move(writes),
                                   static_cast<double>(padded_count(chosen.dst_desc()) * fit(in[0].shape).volume()));
  const std::vector<float> factors = corrections(in[0].shape);
  if (factors.empty()) return kernel;
  const std::int64_t channels = in[0].shape[-1], rows = padded_count(chosen.dst_desc()) / channels;
  kernel.library = false;
  kernel.run = [=, pool = std::move(kernel.run)](const Moment& moment, std::span<const dnnl::memory> m) {
    pool(moment, m);
    dnnl::stream(moment.stream).wait();
    scale_positions(factors, rows, channels, floats(m[1]), floats(m[1]));
  };
  return kernel;
}

std::vector<Kernel> Pool::backward(const Setting& setting, std::span<const Operand> in) const {
  if (!in[0].needs_gradient) return {};
  if (auto tiles = own_tiles(setting, in[0].shape)) return {own_backward(std::move(*tiles), in[0].shape)};
  const Window w = fit(in[0].shape);
  const auto hint = forward_descriptor(setting, in[0].shape);
  const Layout x = hint.src_desc(), y = hint.dst_desc();
  std::vector<Kernel> list;
  Slot dz = gradient_through(after_, setting, y, list);
  if (const std::vector<float> factors = corrections(in[0].shape); !factors.empty()) {
    const std::int64_t channels = in[0].shape[-1], rows = padded_count(y) / channels;
    Kernel kernel{"clip windows", Category::backward_pointwise};
    kernel.reads = {{dz, y}};
    kernel.writes = {{{Kind::temp, 0}, y, 0}};
    kernel.flops = static_cast<double>(padded_count(y));
    kernel.run = [=](const Moment&, std::span<const dnnl::memory> m) {
      scale_positions(factors, rows, channels, floats(m[0]), floats(m[1]));
    };
    list.push_back(std::move(kernel));
    dz = {Kind::temp, 0};
  }
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

}  // namespace

// average_pool: the mean under a sliding window, per channel.
//   y[n, p, c] = 1/m * sum over k of x[n, p*stride + k*dilation - before, c];  dx = the transposed sum of dy/m
// x [N, spatial..., C], y [N, positions..., C]; m counts the elements of x under the window, or with include_padding
// all elements of the window up to the end of the padding.
extern const OperatorRow average_pool{
    "average_pool",
    "the mean under a sliding window",
    [](Args& args) -> std::unique_ptr<Operator> {
      return std::make_unique<Pool>(args, args.flag("include_padding", false)
                                              ? dnnl::algorithm::pooling_avg_include_padding
                                              : dnnl::algorithm::pooling_avg_exclude_padding);
    },
    {
        {"average_pool", {{1, 6, 4, 8, 16}}},
        {"average_pool", {{2, 7, 5, 3}}},
        {"average_pool(window=3, stride=2, padding=same)", {{2, 7, 6, 5}}},
        {"average_pool(window=3, stride=2, padding=1, include_padding=true)", {{2, 7, 6, 5}}},
        {"average_pool(window=2, stride=1, dilation=2)", {{1, 6, 7, 2}}},
        {"average_pool(window=3)", {{2, 9, 4}}},
        {"average_pool(window=3, stride=2, ceil=true)", {{2, 6, 7, 5}}},
        {"average_pool(window=3, stride=2, padding=1, ceil=true, include_padding=true)", {{2, 6, 8, 16}}},
        {"average_pool(window=2, stride=3, dilation=2, ceil=true, include_padding=true)", {{1, 5, 3}}},
    }};

// max_pool: the largest number under a sliding window, per channel; padding is never the maximum.
//   y[n, p, c] = max over k of x[n, p*stride + k*dilation - before, c];  dx = dy at the place of the maximum, else 0
// x [N, spatial..., C], y [N, positions..., C]. The k of the maximum is saved, in one byte per output if the window has
// at most 256 elements.
extern const OperatorRow max_pool{
    "max_pool",
    "the largest number under a sliding window",
    [](Args& args) -> std::unique_ptr<Operator> { return std::make_unique<Pool>(args, dnnl::algorithm::pooling_max); },
    {
        {"max_pool", {{1, 6, 4, 8, 16}}},
        {"max_pool", {{2, 7, 5, 3}}},
        {"max_pool(window=3, stride=2, padding=same)", {{2, 7, 6, 5}}},
        {"max_pool(window=[3, 2], stride=[1, 2], padding=[1, 0])", {{1, 5, 6, 4}}},
        {"max_pool(window=2, stride=1, dilation=2)", {{1, 6, 7, 2}}},
        {"max_pool(window=3)", {{2, 9, 4}}},
        {"max_pool(window=3, stride=2, ceil=true)", {{2, 6, 7, 5}}},
        {"max_pool(window=3, stride=2, padding=1, ceil=true)", {{1, 6, 8, 5, 16}}},
    }};

}  // namespace isobar::ops
