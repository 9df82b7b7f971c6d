// Tensors from a few numbers: Constant, ConstantOfShape, Range, EyeLike, OneHot.
#include <cmath>

#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {
namespace {

Array constant(const Call& call) {
  const OnnxNode& node = call.node;
  if (node.has("value")) {
    const Attribute& attribute = node.attributes.at("value");
    if (attribute.kind != Attribute::Kind::tensor || !attribute.tensor) fail("attribute value must be a tensor");
    described(attribute.tensor->type, attribute.tensor->dims);
    return attribute.tensor->array();
  }
  Array result;
  if (node.has("value_float")) {
    result.values = {node.number("value_float", 0)};
  } else if (node.has("value_int")) {
    result = {Type::int64, {}, {static_cast<double>(node.integer("value_int", 0))}};
  } else if (node.has("value_floats")) {
    result.values = node.numbers("value_floats", {});
    result.dims = {std::ssize(result.values)};
  } else if (node.has("value_ints")) {
    const Integers values = node.integers("value_ints", {});
    result = {Type::int64, {std::ssize(values)}, {values.begin(), values.end()}};
  } else {
    fail("a constant needs one of value, value_float, value_floats, value_int, value_ints");
  }
  return result;
}
Arrays infer_constant(const Call& call) {
  const Array value = constant(call);
  return {described(value.type, value.dims)};
}
void fill_constant(const Call& call, Arrays& out) { out[0].values = constant(call).values; }

Array filler(const Call& call) {
  if (!call.node.has("value")) return {Type::float32, {1}, {0}};
  Array value = constant(call);
  if (value.values.size() != 1) fail("the value is {}; it must be one number", dims_text(value.dims));
  return value;
}
Arrays infer_constant_of_shape(const Call& call) {
  const auto dims = call.integers("shape", 0);
  if (!dims) fail("no shape is given");
  return {described(filler(call).type, *dims)};
}
void fill_constant_of_shape(const Call& call, Arrays& out) {
  out[0].values.assign(out[0].values.size(), filler(call).values[0]);
}

Arrays infer_range(const Call& call) {
  const double start = scalar(call, 0), limit = scalar(call, 1), delta = scalar(call, 2);
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !std::isfinite(count)) fail("a range from {} to {} by {} does not end", start, limit, delta);
  return {described(call[0].type, {whole(std::fmax(count, 0))})};
}
void fill_range(const Call& call, Arrays& out) {
  const double start = scalar(call, 0), delta = scalar(call, 2);
  for (std::size_t i = 0; i < out[0].values.size(); ++i) out[0].values[i] = start + static_cast<double>(i) * delta;
}

Arrays infer_eye(const Call& call) {
  expect_rank(call, 0, 2);
  const auto own = static_cast<std::int64_t>(call[0].type);
  return {described(static_cast<Type>(call.node.integer("dtype", own)), call[0].dims)};
}
void fill_eye(const Call& call, Arrays& out) {
  const std::int64_t k = call.node.integer("k", 0), rows = out[0].dims[0], columns = out[0].dims[1];
  for (std::int64_t row = 0; row < rows; ++row)
    if (row + k >= 0 && row + k < columns) out[0].values[row * columns + row + k] = 1;
}

Arrays infer_one_hot(const Call& call) {
  const int axis = checked_axis(call.node.integer("axis", -1), call[0].rank() + 1);
  expect_dims(call, 2, {2});
  Dims dims = call[0].dims;
  dims.insert(dims.begin() + axis, whole(scalar(call, 1)));
  return {described(call[2].type, dims)};
}
/// An index out of range marks nothing.
void fill_one_hot(const Call& call, Arrays& out) {
  const Array &indices = call.known(0), &values = call.known(2);
  const int axis = checked_axis(call.node.integer("axis", -1), call[0].rank() + 1);
  const Around form = around(out[0].dims, axis);
  out[0].values.assign(out[0].values.size(), values.values[0]);
  for (std::int64_t o = 0; o < form.outer; ++o)
    for (std::int64_t i = 0; i < form.inner; ++i) {
      std::int64_t hot = whole(indices.values[o * form.inner + i]);
      if (hot < 0) hot += form.extent;
      if (hot >= 0 && hot < form.extent) out[0].values[(o * form.extent + hot) * form.inner + i] = values.values[1];
    }
}

}  // namespace

std::span<const Function> source_functions() {
  static constexpr Function all[] = {
      function<infer_constant, fill_constant>("Constant"),
      function<infer_constant_of_shape, fill_constant_of_shape>("ConstantOfShape"),
      function<infer_eye, fill_eye>("EyeLike"),
      function<infer_one_hot, fill_one_hot>("OneHot"),
      function<infer_range, fill_range>("Range"),
  };
  return all;
}

}  // namespace isobar::onnx
