// Checks, strides and broadcasting, shared by all functions.
#include "isobar/onnx/functions.hpp"

#include <algorithm>
#include <cmath>

namespace isobar::onnx {

Array described(Type type, Dims dims) {
  if (!is_floating(type) && !is_integer(type) && type != Type::boolean)
    fail("elements of type {} are not handled; numbers and booleans are", type_name(type));
  checked_count(dims, "output");
  return {type, std::move(dims), {}, false};
}

bool allocate(Arrays& outputs) {
  bool any = false;
  for (Array& output : outputs) {
    output.values.assign(output.count(), 0);
    output.known = true;
    any = any || !output.values.empty();
  }
  return any;
}

void store(Arrays& outputs) {
  for (Array& output : outputs)
    for (double& value : output.values) value = stored_as(output.type, value);
}

Arrays infer_same(const Call& call) { return {described(call[0].type, call[0].dims)}; }

int checked_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) fail("axis {} of a tensor of {} axes", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

std::vector<int> checked_axes(std::span<const std::int64_t> axes, int rank) {
  std::vector<int> result;
  for (const std::int64_t axis : axes) result.push_back(checked_axis(axis, rank));
  std::sort(result.begin(), result.end());
  const auto twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) fail("axis {} is named twice", *twice);
  return result;
}

void expect_rank(const Call& call, std::size_t i, int rank) {
  if (call[i].rank() != rank) fail("input {} is {}; it must have {} axes", i, dims_text(call[i].dims), rank);
}

void expect_dims(const Call& call, std::size_t i, const Dims& dims) {
  if (call[i].dims != dims) fail("input {} is {}; it must be {}", i, dims_text(call[i].dims), dims_text(dims));
}

std::int64_t whole(double value) {
  constexpr double limit = 0x1p62;
  if (std::isnan(value)) fail("NaN where an integer is needed");
  return static_cast<std::int64_t>(std::clamp(value, -limit, limit));
}

double scalar(const Call& call, std::size_t i) {
  const Array& array = call.known(i);
  if (array.values.size() != 1) fail("input {} is {}; it must be one number", i, dims_text(array.dims));
  return array.values[0];
}

std::int64_t checked_index(double value, std::int64_t extent) {
  const std::int64_t index = whole(value);
  if (index < -extent || index >= extent) fail("index {} of an axis of {}", index, extent);
  return index < 0 ? index + extent : index;
}

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t result = 1;
  for (const std::int64_t extent : dims) {
    if (extent == 0) return 0;
    result *= extent;
  }
  return result;
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t step = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = step;
    // Tensors without elements are never traversed; their strides only must not overflow.
    step *= std::max<std::int64_t>(dims[axis], 1);
  }
  return strides;
}

Dims broadcast(const Dims& a, const Dims& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t m = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const std::int64_t n = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (m != n && m != 1 && n != 1) fail("{} and {} cannot be broadcast to each other", dims_text(a), dims_text(b));
    result[i] = m == 1 ? n : m;
  }
  return result;
}

Dims broadcast_strides(const Dims& from, const Dims& to) {
  if (from.size() > to.size()) fail("{} cannot be broadcast to {}", dims_text(from), dims_text(to));
  const std::size_t lead = to.size() - from.size();
  Dims strides(to.size());
  const Dims own = strides_of(from);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[lead + i] && from[i] != 1) fail("{} cannot be broadcast to {}", dims_text(from), dims_text(to));
    strides[lead + i] = from[i] == 1 ? 0 : own[i];
  }
  return strides;
}

Around around(const Dims& dims, int axis) {
  const std::span<const std::int64_t> all(dims);
  const std::size_t at = axis;
  return {product(all.first(at)), dims[at], product(all.subspan(at + 1))};
}

std::int64_t offset(const Dims& index, const Dims& strides) {
  std::int64_t result = 0;
  for (std::size_t i = 0; i < index.size(); ++i) result += index[i] * strides[i];
  return result;
}

}  // namespace isobar::onnx
