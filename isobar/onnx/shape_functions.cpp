// Functions that only change axes: the numbers keep their order (Reshape, Squeeze, ...), or are read with other strides
// (Transpose, Expand). Shape and Size read the dims of their input and never its numbers.
#include <algorithm>
#include <numeric>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

void fill_reshaped(const Call& call, Arrays& out) { out[0].values = call.known(0).values; }

/// The part [start, end) of the dims, as a Python slice.
Dims shape_part(const Call& call) {
  const Dims& dims = call[0].dims;
  const auto rank = std::ssize(dims);
  const auto place = [rank](std::int64_t i) { return std::clamp<std::int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const std::int64_t start = place(call.node.integer("start", 0)), end = place(call.node.integer("end", rank));
  return start < end ? Dims(dims.begin() + start, dims.begin() + end) : Dims{};
}
Arrays infer_shape(const Call& call) { return {described(Type::int64, {std::ssize(shape_part(call))})}; }
void fill_shape(const Call& call, Arrays& out) {
  const Dims part = shape_part(call);
  std::copy(part.begin(), part.end(), out[0].values.begin());
}

Arrays infer_size(const Call&) { return {described(Type::int64, {})}; }
void fill_size(const Call& call, Arrays& out) { out[0].values[0] = static_cast<double>(call[0].count()); }

Arrays infer_reshape(const Call& call) {
  const auto given = call.integers("shape", 1);
  if (!given) fail("no shape is given");
  const Dims& from = call[0].dims;
  const bool zero_is_zero = call.node.integer("allowzero", 0) != 0;
  Dims dims = *given;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zero_is_zero) {
      if (i >= from.size()) fail("shape {}: axis {} of {} is to be kept", dims_text(*given), i, dims_text(from));
      dims[i] = from[i];
    } else if (dims[i] == -1) {
      if (open >= 0) fail("shape {} leaves more than one axis open", dims_text(*given));
      open = i;
      dims[i] = 1;
    }
  }
  const std::int64_t count = call[0].count(), known = checked_count(dims, "shape");
  if (open >= 0 && known > 0) dims[open] = count / known;
  if (open >= 0 && known == 0) fail("shape {} leaves an axis open beside one of 0", dims_text(*given));
  if (checked_count(dims, "shape") != count)
    fail("{} cannot take the shape {}: {} elements", dims_text(from), dims_text(*given), count);
  return {described(call[0].type, dims)};
}

Arrays infer_flatten(const Call& call) {
  const std::int64_t axis = call.node.integer("axis", 1);
  const int rank = call[0].rank();
  const int at = axis == rank ? rank : checked_axis(axis, rank);
  const std::span<const std::int64_t> dims(call[0].dims);
  call[0].count();
  return {described(call[0].type, {product(dims.first(at)), product(dims.subspan(at))})};
}

Arrays infer_squeeze(const Call& call) {
  const Dims& from = call[0].dims;
  const auto given = call.integers("axes", 1);
  const std::vector<int> axes = given ? checked_axes(*given, call[0].rank()) : std::vector<int>{};
  Dims dims;
  for (int i = 0; i < call[0].rank(); ++i) {
    const bool drop = given ? std::binary_search(axes.begin(), axes.end(), i) : from[i] == 1;
    if (drop && from[i] != 1) fail("axis {} of {} is not 1 and cannot be dropped", i, dims_text(from));
    if (!drop) dims.push_back(from[i]);
  }
  return {described(call[0].type, dims)};
}

Arrays infer_unsqueeze(const Call& call) {
  const auto given = call.integers("axes", 1);
  if (!given) fail("no axes are given");
  const std::vector<int> axes = checked_axes(*given, call[0].rank() + std::ssize(*given));
  Dims dims = call[0].dims;
  for (const int axis : axes) dims.insert(dims.begin() + axis, 1);
  return {described(call[0].type, dims)};
}

std::vector<int> permutation(const Call& call) {
  const int rank = call[0].rank();
  Integers otherwise(rank);
  std::iota(otherwise.rbegin(), otherwise.rend(), 0);
  const Integers given = call.node.integers("perm", otherwise);
  if (std::ssize(given) != rank) fail("perm {} for {} axes", dims_text(given), rank);
  checked_axes(given, rank);
  std::vector<int> result;
  for (const std::int64_t axis : given) result.push_back(checked_axis(axis, rank));
  return result;
}
Arrays infer_transpose(const Call& call) {
  Dims dims;
  for (const int axis : permutation(call)) dims.push_back(call[0].dims[axis]);
  return {described(call[0].type, dims)};
}
void fill_transpose(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  const Dims own = strides_of(x.dims);
  Dims strides;
  for (const int axis : permutation(call)) strides.push_back(own[axis]);
  std::size_t i = 0;
  walk(out[0].dims, std::array{strides}, [&](const auto& at) { out[0].values[i++] = x.values[at[0]]; });
}

Arrays infer_expand(const Call& call) {
  const auto shape = call.integers("shape", 1);
  if (!shape) fail("no shape is given");
  return {described(call[0].type, broadcast(call[0].dims, *shape))};
}
void fill_expand(const Call& call, Arrays& out) {
  const Array& x = call.known(0);
  std::size_t i = 0;
  walk(out[0].dims, std::array{broadcast_strides(x.dims, out[0].dims)},
       [&](const auto& at) { out[0].values[i++] = x.values[at[0]]; });
}

}  // namespace

std::span<const Function> shape_functions() {
  static constexpr Function all[] = {
      function<infer_expand, fill_expand>("Expand"),
      function<infer_flatten, fill_reshaped>("Flatten"),
      function<infer_reshape, fill_reshaped>("Reshape"),
      function<infer_shape, fill_shape>("Shape"),
      function<infer_size, fill_size>("Size"),
      function<infer_squeeze, fill_reshaped>("Squeeze"),
      function<infer_transpose, fill_transpose>("Transpose"),
      function<infer_unsqueeze, fill_reshaped>("Unsqueeze"),
  };
  return all;
}

}  // namespace isobar::onnx
