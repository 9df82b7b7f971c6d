#include "isobar/ops/conv_weights.hpp"

#include <algorithm>
#include <omp.h>

#include "isobar/ops/conv_methods.hpp"
#include "isobar/ops/group_layout.hpp"
#include "isobar/ops/primitive.hpp"
#include "isobar/ops/tile.hpp"
#include "isobar/ops/weight_sums.hpp"

namespace isobar::ops {
namespace {

constexpr std::int64_t most_summed_groups = 8;  // more groups are too small to be computed one after the other

bool all_are(const Extents& values, std::int64_t value) {
  return std::all_of(values.begin(), values.end(), [=](std::int64_t v) { return v == value; });
}

WindowExtents extents_of(const TiledGradient& p) {
  const Window& w = p.window;
  WindowExtents e;
  e.channels = p.x[-1] / p.groups;
  e.outputs = p.y[-1] / p.groups;
  e.x_pitch = p.x[-1];
  e.y_pitch = p.y[-1];
  if (w.volume() == 1 && all_are(w.stride, 1) && all_are(w.before, 0) && all_are(w.after, 0)) {
    e.in[2] = e.out[2] = p.y.count() / p.y[-1];  // each window is one pixel, so all pixels form one row
    return e;
  }
  e.batch = p.x[0];
  for (std::size_t a = 0, at = 3 - w.kernel.size(); at < 3; ++a, ++at) {
    e.in[at] = p.x[a + 1];
    e.out[at] = w.out[a];
    e.kernel[at] = w.kernel[a];
    e.stride[at] = w.stride[a];
    e.dilation[at] = w.dilation[a];
    e.before[at] = w.before[a];
  }
  return e;
}

// [taps, C, O] in memory, with the axes O, C, kernel...
Layout outputs_innermost(const Layout& stored) {
  const Extents axes(stored.data.dims, stored.data.dims + stored.data.ndims);
  Extents strides(axes.size());
  strides[0] = 1;
  strides[1] = axes[0];
  std::int64_t stride = axes[0] * axes[1];
  for (std::size_t a = axes.size(); a-- > 2; stride *= axes[a]) strides[a] = stride;
  return Layout(axes, Dtype::f32, strides);
}

}  // namespace

std::optional<Kernel> tiled_weight_gradient(const TiledGradient& p) {
  const std::optional<Layout> one = p.groups > 1 ? group_layout(p.stored) : p.stored;
  if (!one || (p.groups > 1 && !WeightSums::fits(*one))) return std::nullopt;
  const bool fits = WeightSums::fits(*one);
  const Layout dw = fits ? p.stored : outputs_innermost(p.stored);
  const int threads = omp_get_max_threads();
  Kernel kernel{"weight gradient", Category::backward_convolution};
  kernel.flops = p.flops;
  const WeightSums sums(extents_of(p), fits ? *one : dw);
  kernel.reads = {{p.from_x, channels_last(p.x)}, {p.from_dz, channels_last(p.y)}};
  kernel.writes = {{{Slot::Kind::dx, 1}, dw}};
  if (p.bias) kernel.writes.push_back({{Slot::Kind::dx, 2}, plain({p.y[-1]})});
  kernel.writes.push_back({{Slot::Kind::temp, first_scratch + p.temporary}, plain({sums.scratch(threads)})});
  const std::int64_t channels = p.x[-1] / p.groups, outputs = p.y[-1] / p.groups, weights = padded_count(dw) / p.groups;
  kernel.run = [=, groups = p.groups, bias = p.bias](const Moment&, std::span<const dnnl::memory> m) {
    for (std::int64_t g = 0; g < groups; ++g)
      sums.run(threads, floats(m[0]) + g * channels, floats(m[1]) + g * outputs, floats(m[bias ? 4 : 3]),
               floats(m[2]) + g * weights, bias ? floats(m[3]) + g * outputs : nullptr);
  };
  return kernel;
}

extern const ConvMethod conv_own{
    "own", "weight gradient by tiles of 14 channels and 32 outputs",
    [](const Setting&, const ConvCase& p, Direction direction) -> std::optional<std::vector<Kernel>> {
      if (direction != Direction::weight_gradient) return std::nullopt;
      const Layout stored = p.stored.is_zero() ? weight_rows(p) : p.stored;
      return one_kernel(tiled_weight_gradient(
          {p.window, p.x, p.y, {Slot::Kind::x, 0}, p.dz, stored, p.bias, p.temporary, p.flops, p.groups}));
    },
    [](const ConvCase& p, Direction) {  // otherwise a tile would have few rows and one vector of columns
      if (p.groups > 1)
        return p.groups <= most_summed_groups && p.x[-1] / p.groups >= tile_rows && p.y[-1] / p.groups >= tile_columns;
      return p.x[-1] * p.window.kernel.back() >= 8 || p.y[-1] > tile_lanes;
    }};

}  // namespace isobar::ops
