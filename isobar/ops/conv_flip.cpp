#include "isobar/ops/conv_flip.hpp"

#include <algorithm>
#include <string_view>

#include "isobar/ops/primitive.hpp"

namespace isobar::ops {
namespace {

// Where index i of one axis lies. Offsets in a blocked layout are sums of one term per axis.
std::vector<std::int64_t> axis_offsets(const Layout& layout, int axis) {
  const auto& blocking = layout.data.format_desc.blocking;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(layout.data.dims[axis]));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t inner_stride = 1;
    for (int b = blocking.inner_nblks; b-- > 0;) {
      if (blocking.inner_idxs[b] == axis) {
        offsets[i] += rest % blocking.inner_blks[b] * inner_stride;
        rest /= blocking.inner_blks[b];
      }
      inner_stride *= blocking.inner_blks[b];
    }
    offsets[i] += rest * blocking.strides[axis];
  }
  return offsets;
}

// Offsets of all taps of the kernel, spatial axes in C order; reversed when asked.
std::vector<std::int64_t> tap_offsets(const Layout& layout, bool reversed) {
  std::vector<std::int64_t> taps{0};
  for (int axis = 2; axis < layout.data.ndims; ++axis) {
    std::vector<std::int64_t> offsets = axis_offsets(layout, axis), next;
    if (reversed) std::reverse(offsets.begin(), offsets.end());
    for (const std::int64_t base : taps)
      for (const std::int64_t offset : offsets) next.push_back(base + offset);
    taps = std::move(next);
  }
  return taps;
}

Kernel turn_weights(const Layout& stored, const Layout& turned, int temporary) {
  constexpr std::int64_t tile = 32;
  Kernel kernel{"turn weights", Category::copy};
  kernel.reads = {{{Slot::Kind::x, 1}, stored}};
  kernel.writes = {{{Slot::Kind::temp, temporary}, turned}};
  kernel.run = [outputs = axis_offsets(stored, 0), inputs = axis_offsets(stored, 1), taps = tap_offsets(stored, false),
                to_inputs = axis_offsets(turned, 1), to_outputs = axis_offsets(turned, 0),
                to_taps = tap_offsets(turned, true)](const Moment&, std::span<const dnnl::memory> memories) {
    const float* const from = floats(memories[0]);
    float* const to = floats(memories[1]);
    const auto o_count = static_cast<std::int64_t>(outputs.size()), i_count = static_cast<std::int64_t>(inputs.size());
    const auto tap_count = static_cast<std::int64_t>(taps.size());
    const std::int64_t o_tiles = (o_count + tile - 1) / tile;
#pragma omp parallel for collapse(2) schedule(static)
    for (std::int64_t ot = 0; ot < o_tiles; ++ot) {
      for (std::int64_t t = 0; t < tap_count; ++t) {
        const std::int64_t o_end = std::min(o_count, (ot + 1) * tile);
        for (std::int64_t i_begin = 0; i_begin < i_count; i_begin += tile) {
          const std::int64_t i_end = std::min(i_count, i_begin + tile);
          for (std::int64_t o = ot * tile; o < o_end; ++o) {
            const float* const source = from + taps[t] + outputs[o];
            float* const target = to + to_taps[t] + to_inputs[o];
            for (std::int64_t i = i_begin; i < i_end; ++i) target[to_outputs[i]] = source[inputs[i]];
          }
        }
      }
    }
  };
  return kernel;
}

bool is_fast(std::string_view implementation) { return implementation.starts_with("brgconv"); }

}  // namespace

std::optional<std::vector<Kernel>> data_gradient_by_forward(const Setting& setting, const Window& window,
                                                            const Layout& x, const Layout& stored, const Layout& y,
                                                            Slot dz, int first_temporary, double flops) {
  const int axes = static_cast<int>(window.kernel.size());
  const bool dense = std::all_of(window.stride.begin(), window.stride.end(), [](auto s) { return s == 1; });
  if (!dense || stored.data.ndims != axes + 2) return std::nullopt;  // groups have an axis of their own
  Extents before, after;
  for (std::size_t a = 0; a < window.kernel.size(); ++a) {
    const std::int64_t reach = (window.kernel[a] - 1) * window.dilation[a];
    before.push_back(reach - window.before[a]);
    after.push_back(reach - window.after[a]);
    if (before[a] < 0 || after[a] < 0) return std::nullopt;
  }
  Extents turned_axes(stored.data.dims, stored.data.dims + stored.data.ndims);
  std::swap(turned_axes[0], turned_axes[1]);
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, y,
                                             any_layout(turned_axes), x, window.stride, window.gaps(), before, after);
  try {
    const dnnl::convolution_forward::primitive_desc chosen(desc, own_scratchpad(), setting.engine);
    if (!is_fast(chosen.impl_info_str())) return std::nullopt;
    const Layout turned = chosen.weights_desc();
    if (padded_count(turned) != Shape(turned_axes).count()) return std::nullopt;  // padding would have to be cleared
    std::vector<Kernel> list{turn_weights(stored, turned, first_temporary)};
    list.push_back(
        primitive_kernel("data gradient", Category::backward_convolution, dnnl::convolution_forward(chosen),
                         chosen.scratchpad_desc(), first_temporary + 1,
                         {{DNNL_ARG_SRC, {dz, y}}, {DNNL_ARG_WEIGHTS, {{Slot::Kind::temp, first_temporary}, turned}}},
                         {{DNNL_ARG_DST, {{Slot::Kind::dx, 0}, x}}}, flops));
    return list;
  } catch (const dnnl::error&) {
    return std::nullopt;  // oneDNN cannot do this shape forward; its own data gradient will
  }
}

}  // namespace isobar::ops
