#include "isobar/ops/pool.hpp"

#include <algorithm>

#include "isobar/base/loops.hpp"
#include "isobar/ops/lanes.hpp"
#include "isobar/ops/pool_tiles.hpp"
#include "isobar/ops/primitive.hpp"

namespace isobar::ops {

using Kind = Slot::Kind;

namespace {

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

}  // namespace

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
  const bool corrects = window_.ceil() && algorithm_ == dnnl::algorithm::pooling_avg_include_padding;
  if (after_ || corrects) return nullptr;
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

}  // namespace isobar::ops
