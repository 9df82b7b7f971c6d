// Writing by index into a copy of a tensor: ScatterElements (formerly Scatter) writes single numbers along one axis,
// ScatterND slices. A new number replaces the old one, or is added to it, multiplied with it, ...
#include <algorithm>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

using Combine = double (*)(double old, double update);

Combine reduction(const Call& call) {
  const std::string name = call.node.text("reduction", "none");
  if (name == "none") return [](double, double update) { return update; };
  if (name == "add") return [](double old, double update) { return old + update; };
  if (name == "mul") return [](double old, double update) { return old * update; };
  if (name == "max") return [](double old, double update) { return std::max(old, update); };
  if (name == "min") return [](double old, double update) { return std::min(old, update); };
  fail("reduction '{}'; none, add, mul, max and min are valid", name);
}

int scatter_axis_of(const Call& call) { return checked_axis(call.node.integer("axis", 0), call[0].rank()); }

Arrays infer_elements(const Call& call) {
  const int axis = scatter_axis_of(call);
  reduction(call);
  expect_rank(call, 1, call[0].rank());
  expect_dims(call, 2, call[1].dims);
  for (int i = 0; i < call[0].rank(); ++i)
    if (i != axis && call[1].dims[i] > call[0].dims[i])
      fail("indices {} exceed {} along axes other than {}", dims_text(call[1].dims), dims_text(call[0].dims), axis);
  return infer_same(call);
}
void fill_elements(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &indices = call.known(1), &updates = call.known(2);
  const Combine combine = reduction(call);
  const int axis = scatter_axis_of(call);
  Dims strides = strides_of(x.dims);
  const std::int64_t step = std::exchange(strides[axis], 0);
  out[0].values = x.values;
  std::size_t i = 0;
  walk(indices.dims, std::array{strides}, [&](const auto& at) {
    double& place = out[0].values[at[0] + step * checked_index(indices.values[i], x.dims[axis])];
    place = combine(place, updates.values[i++]);
  });
}

Arrays infer_nd(const Call& call) {
  const Dims &dims = call[0].dims, &indices = call[1].dims;
  reduction(call);
  if (indices.empty() || indices.back() < 1 || indices.back() > call[0].rank())
    fail("indices {} do not fit {}", dims_text(indices), dims_text(dims));
  Dims expected(indices.begin(), indices.end() - 1);
  expected.insert(expected.end(), dims.begin() + indices.back(), dims.end());
  expect_dims(call, 2, expected);
  return infer_same(call);
}
void fill_nd(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &indices = call.known(1), &updates = call.known(2);
  const Combine combine = reduction(call);
  const std::int64_t depth = indices.dims.back();
  const std::int64_t slice = product(std::span<const std::int64_t>(x.dims).subspan(depth));
  out[0].values = x.values;
  auto update = updates.values.begin();
  for (auto index = indices.values.begin(); index != indices.values.end(); index += depth) {
    std::int64_t row = 0;
    for (std::int64_t d = 0; d < depth; ++d) row = row * x.dims[d] + checked_index(index[d], x.dims[d]);
    for (std::int64_t i = 0; i < slice; ++i) {
      double& place = out[0].values[row * slice + i];
      place = combine(place, *update++);
    }
  }
}

}  // namespace

std::span<const Function> scatter_functions() {
  static constexpr Function all[] = {
      function<infer_elements, fill_elements>("Scatter"),
      function<infer_elements, fill_elements>("ScatterElements"),
      function<infer_nd, fill_nd>("ScatterND"),
  };
  return all;
}

}  // namespace isobar::onnx
