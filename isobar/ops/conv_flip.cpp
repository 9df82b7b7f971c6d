#include "isobar/ops/conv_flip.hpp"

#include <algorithm>
#include <string_view>

#include "isobar/ops/primitive.hpp"
#include "isobar/ops/turned_weights.hpp"

namespace isobar::ops {
namespace {

Kernel turn_weights(const Layout& stored, const Layout& turned, int temporary) {
  const Extents first(static_cast<std::size_t>(stored.data.ndims) - 2, 0), step(first.size(), 1);
  Kernel kernel{"turn weights", Category::copy};
  kernel.reads = {{{Slot::Kind::x, 1}, stored}};
  kernel.writes = {{{Slot::Kind::temp, temporary}, turned}};
  kernel.run = [turn = TurnedWeights(stored, turned, first, step)](const Moment&, std::span<const dnnl::memory> m) {
    turn.copy(floats(m[0]), floats(m[1]));
  };
  return kernel;
}

bool is_fast(std::string_view implementation) { return implementation.starts_with("brgconv"); }

}  // namespace

std::optional<std::vector<Kernel>> data_gradient_by_forward(const Setting& setting, const ConvCase& problem) {
  const Window& window = problem.window;
  const Layout& stored = problem.stored;
  if (!problem.unit_stride() || problem.groups != 1 || stored.data.ndims == 0) return std::nullopt;
  Extents before, after;
  for (std::size_t a = 0; a < window.kernel.size(); ++a) {
    const std::int64_t reach = (window.kernel[a] - 1) * window.dilation[a];
    before.push_back(reach - window.before[a]);
    after.push_back(reach - window.after[a]);
    if (before[a] < 0 || after[a] < 0) return std::nullopt;
  }
  Extents turned_axes(stored.data.dims, stored.data.dims + stored.data.ndims);
  std::swap(turned_axes[0], turned_axes[1]);
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
                                             problem.y_layout, any_layout(turned_axes), problem.x_layout, window.stride,
                                             window.gaps(), before, after);
  try {
    const dnnl::convolution_forward::primitive_desc chosen(desc, own_scratchpad(), setting.engine);
    if (!is_fast(chosen.impl_info_str())) return std::nullopt;
    const Layout turned = chosen.weights_desc();
    std::vector<Kernel> list{turn_weights(stored, turned, problem.temporary)};
    list.push_back(primitive_kernel("data gradient", Category::backward_convolution, dnnl::convolution_forward(chosen),
                                    chosen.scratchpad_desc(), problem.temporary + 1,
                                    {{DNNL_ARG_SRC, {problem.dz, problem.y_layout}},
                                     {DNNL_ARG_WEIGHTS, {{Slot::Kind::temp, problem.temporary}, turned}}},
                                    {{DNNL_ARG_DST, {{Slot::Kind::dx, 0}, problem.x_layout}}}, problem.flops));
    return list;
  } catch (const dnnl::error&) {
    return std::nullopt;  // oneDNN cannot do this shape forward; its own data gradient will
  }
}

extern const ConvMethod conv_flipped;
const ConvMethod conv_flipped{
    "flipped", "data gradient of stride 1 as a forward convolution with turned weights",
    [](const Setting& setting, const ConvCase& problem, Direction direction) -> std::optional<std::vector<Kernel>> {
      if (direction != Direction::data_gradient) return std::nullopt;
      return data_gradient_by_forward(setting, problem);
    },
    [](const ConvCase&, Direction) { return true; }};

}  // namespace isobar::ops
