#include "isobar/ops/conv_methods.hpp"

#include <algorithm>
#include <stdexcept>

#include "isobar/ops/conv_pieces.hpp"

namespace isobar::ops {

extern const ConvMethod conv_depthwise;  // conv_depthwise.cpp
extern const ConvMethod conv_direct;     // conv_direct.cpp
extern const ConvMethod conv_fft;        // conv_fft.cpp
extern const ConvMethod conv_flipped;    // conv_flip.cpp
extern const ConvMethod conv_im2col;     // conv_im2col.cpp
extern const ConvMethod conv_own;        // conv_weights.cpp
extern const ConvMethod conv_phases;     // conv_phases.cpp
extern const ConvMethod conv_winograd;   // conv_winograd.cpp
extern const ConvMethod conv_winograd2;  // conv_winograd.cpp

Table<ConvMethod> conv_methods() {
  static constexpr const ConvMethod* all[] = {&conv_depthwise, &conv_own,       &conv_flipped,
                                              &conv_phases,    &conv_direct,    &conv_im2col,
                                              &conv_winograd,  &conv_winograd2, &conv_fft};
  return all;
}

std::string_view direction_name(Direction direction) {
  switch (direction) {
    case Direction::forward: return "forward";
    case Direction::data_gradient: return "data gradient";
    case Direction::weight_gradient: return "weight gradient";
  }
  throw std::logic_error("a direction without a name");
}

ConvCase ConvCase::of(std::int64_t samples) const {
  ConvCase part = *this;
  part.flops *= static_cast<double>(samples) / x[0];
  part.x[0] = part.y[0] = samples;
  part.x_layout = channels_last(part.x);
  part.y_layout = channels_last(part.y);
  return part;
}

bool ConvCase::dense() const {
  return std::ranges::all_of(window.dilation, [](std::int64_t v) { return v == 1; });
}

bool ConvCase::unit_stride() const {
  return std::ranges::all_of(window.stride, [](std::int64_t v) { return v == 1; });
}

Layout weight_rows(const ConvCase& problem) {
  const auto& w = problem.w.data;
  const int first = problem.groups > 1 ? 1 : 0;  // groups are a separate axis
  Extents axes(w.dims, w.dims + w.ndims), strides(axes.size());
  std::int64_t stride = 1;
  const auto next = [&](int axis) {
    strides[axis] = stride;
    stride *= w.dims[axis];
  };
  next(first);
  next(first + 1);
  for (int axis = w.ndims; axis-- > first + 2;) next(axis);
  if (first == 1) next(0);
  return Layout(axes, Dtype::f32, strides);
}

std::optional<std::vector<Kernel>> one_kernel(std::optional<Kernel> kernel) {
  if (!kernel) return std::nullopt;
  std::vector<Kernel> list;
  list.push_back(std::move(*kernel));
  return list;
}

std::vector<Kernel> conv_kernels(const Setting& setting, const ConvCase& problem, Direction direction) {
  const Choice* const chosen =
      setting.own_kernels && setting.tuning ? setting.tuning->find(setting.name, direction) : nullptr;
  if (chosen)
    if (auto made = chosen_kernels(setting, problem, direction, *chosen)) return std::move(*made);
  for (const ConvMethod* method : conv_methods()) {
    if (!setting.own_kernels && method != &conv_direct) continue;
    if (!method->preferred(problem, direction)) continue;
    if (auto made = method->make(setting, problem, direction)) return std::move(*made);
  }
  throw std::logic_error("a convolution that no method applies to");
}

}  // namespace isobar::ops
