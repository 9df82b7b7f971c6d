// Reading by index: Gather reads whole slices, GatherElements single numbers along one axis, GatherND slices named by
// several indices. Negative indices count from the end.
#include <algorithm>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

int axis_of(const Call& call) { return checked_axis(call.node.integer("axis", 0), call[0].rank()); }

Arrays infer_gather(const Call& call) {
  const int axis = axis_of(call);
  Dims dims = call[0].dims;
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, call[1].dims.begin(), call[1].dims.end());
  return {described(call[0].type, dims)};
}
void fill_gather(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &indices = call.known(1);
  const Around form = around(x.dims, axis_of(call));
  auto to = out[0].values.begin();
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (const double index : indices.values) {
      const std::int64_t row = o * form.extent + checked_index(index, form.extent);
      to = std::copy_n(x.values.begin() + row * form.inner, form.inner, to);
    }
}

Arrays infer_gather_elements(const Call& call) {
  const int axis = axis_of(call);
  expect_rank(call, 1, call[0].rank());
  for (int i = 0; i < call[0].rank(); ++i)
    if (i != axis && call[1].dims[i] > call[0].dims[i])
      fail("indices {} exceed {} along axes other than {}", dims_text(call[1].dims), dims_text(call[0].dims), axis);
  return {described(call[0].type, call[1].dims)};
}
void fill_gather_elements(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &indices = call.known(1);
  const int axis = axis_of(call);
  Dims strides = strides_of(x.dims);
  const std::int64_t step = std::exchange(strides[axis], 0);
  std::size_t i = 0;
  walk(indices.dims, std::array{strides}, [&](const auto& at) {
    out[0].values[i] = x.values[at[0] + step * checked_index(indices.values[i], x.dims[axis])];
    ++i;
  });
}

/// How GatherND sees its inputs: `batch` common axes, indices of `depth` entries, slices of `slice` elements.
struct Named {
  std::size_t batch, depth;
  std::int64_t batches, per_batch, slice;
};
Named named(const Call& call) {
  const Dims &dims = call[0].dims, &indices = call[1].dims;
  const std::int64_t batch = call.node.integer("batch_dims", 0);
  const std::int64_t smaller = std::min(dims.size(), indices.size());
  if (batch < 0 || batch >= smaller) fail("{} batch axes of {} and {}", batch, dims_text(dims), dims_text(indices));
  const std::int64_t depth = indices.back();
  if (!std::equal(dims.begin(), dims.begin() + batch, indices.begin()) || depth < 1 || depth > std::ssize(dims) - batch)
    fail("indices {} do not fit {} with {} batch axes", dims_text(indices), dims_text(dims), batch);
  call[0].count();
  call[1].count();
  const std::span<const std::int64_t> data(dims), index(indices);
  return {static_cast<std::size_t>(batch), static_cast<std::size_t>(depth), product(index.first(batch)),
          product(index.subspan(batch, indices.size() - 1 - batch)), product(data.subspan(batch + depth))};
}
Arrays infer_gather_nd(const Call& call) {
  const Named form = named(call);
  Dims dims(call[1].dims.begin(), call[1].dims.end() - 1);
  dims.insert(dims.end(), call[0].dims.begin() + form.batch + form.depth, call[0].dims.end());
  return {described(call[0].type, dims)};
}
void fill_gather_nd(const Call& call, Arrays& out) {
  const Array &x = call.known(0), &indices = call.known(1);
  const Named form = named(call);
  auto index = indices.values.begin();
  auto to = out[0].values.begin();
  for (std::int64_t b = 0; b < form.batches; ++b)
    for (std::int64_t i = 0; i < form.per_batch; ++i) {
      std::int64_t row = b;
      for (std::size_t d = 0; d < form.depth; ++d) {
        const std::int64_t extent = x.dims[form.batch + d];
        row = row * extent + checked_index(*index++, extent);
      }
      to = std::copy_n(x.values.begin() + row * form.slice, form.slice, to);
    }
}

}  // namespace

std::span<const Function> gather_functions() {
  static constexpr Function all[] = {
      function<infer_gather, fill_gather>("Gather"),
      function<infer_gather_elements, fill_gather_elements>("GatherElements"),
      function<infer_gather_nd, fill_gather_nd>("GatherND"),
  };
  return all;
}

}  // namespace isobar::onnx
