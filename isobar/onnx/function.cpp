// The table of all functions, and the inputs and attributes of a call.
#include "isobar/onnx/function.hpp"

#include <algorithm>

#include "isobar/base/error.hpp"
#include "isobar/onnx/functions.hpp"

namespace isobar::onnx {

std::span<const Function> activation_functions();  // activation_functions.cpp
std::span<const Function> binary_functions();      // binary_functions.cpp
std::span<const Function> box_functions();         // box_functions.cpp
std::span<const Function> cast_functions();        // cast_functions.cpp
std::span<const Function> conv_functions();        // conv_functions.cpp
std::span<const Function> gather_functions();      // gather_functions.cpp
std::span<const Function> linear_functions();      // linear_functions.cpp
std::span<const Function> loss_functions();        // loss_functions.cpp
std::span<const Function> normal_functions();      // normal_functions.cpp
std::span<const Function> piece_functions();       // piece_functions.cpp
std::span<const Function> pool_functions();        // pool_functions.cpp
std::span<const Function> recurrent_functions();   // recurrent_functions.cpp
std::span<const Function> reduction_functions();   // reduction_functions.cpp
std::span<const Function> resize_functions();      // resize_functions.cpp
std::span<const Function> sample_functions();      // sample_functions.cpp
std::span<const Function> scatter_functions();     // scatter_functions.cpp
std::span<const Function> search_functions();      // search_functions.cpp
std::span<const Function> shape_functions();       // shape_functions.cpp
std::span<const Function> signal_functions();      // signal_functions.cpp
std::span<const Function> softmax_functions();     // softmax_functions.cpp
std::span<const Function> source_functions();      // source_functions.cpp
std::span<const Function> spread_functions();      // spread_functions.cpp
std::span<const Function> unary_functions();       // unary_functions.cpp

const Array& Call::operator[](std::size_t i) const {
  if (!has(i)) fail("node '{}' ({}): input {} is omitted but needed", node.name, node.op, i);
  return *in[i];
}

const Array& Call::known(std::size_t i) const {
  const Array& array = (*this)[i];
  if (!array.known) throw NeedsValue(i);
  if (std::ssize(array.values) != array.count())
    fail("input {} holds {} numbers, but is {} of type {}", i, array.values.size(), dims_text(array.dims),
         type_name(array.type));
  return array;
}

std::optional<std::vector<std::int64_t>> Call::integers(const char* name, std::size_t i) const {
  std::vector<std::int64_t> result;
  const auto found = node.attributes.find(name);
  if (found != node.attributes.end()) {
    const Attribute& attribute = found->second;
    if (attribute.kind != Attribute::Kind::integers && attribute.kind != Attribute::Kind::integer)
      fail("attribute {} must be a list of integers", name);
    result = attribute.integers;
    if (attribute.kind == Attribute::Kind::integer) result = {attribute.integer};
    // Like whole(); Slice expresses "to the end" by the largest integer.
    constexpr std::int64_t limit = std::int64_t{1} << 62;
    for (std::int64_t& value : result) value = std::clamp(value, -limit, limit);
    return result;
  }
  if (!has(i)) return std::nullopt;
  const Array& array = known(i);
  if (array.rank() > 1) fail("input {} is {}; it must be a list of integers", i, dims_text(array.dims));
  for (const double value : array.values) result.push_back(whole(value));
  return result;
}

const Function* find_function(std::string_view op) {
  static constexpr std::span<const Function> (*tables[])() = {
      activation_functions, binary_functions,    box_functions,       cast_functions,   conv_functions,
      gather_functions,     linear_functions,    loss_functions,      normal_functions, piece_functions,
      pool_functions,       recurrent_functions, reduction_functions, resize_functions, sample_functions,
      scatter_functions,    search_functions,    shape_functions,     signal_functions, softmax_functions,
      source_functions,     spread_functions,    unary_functions};
  for (const auto table : tables)
    for (const Function& function : table())
      if (function.op == op) return &function;
  return nullptr;
}

std::vector<Array> run_function(const Function& function, const Call& call) {
  std::int64_t count = 0;
  for (const Array& output : function.infer(call)) count += output.count();
  if (count > max_known_elements)
    fail("the result has {} elements; at most {} are computed while a file is imported", count, max_known_elements);
  return function.run(call);
}

}  // namespace isobar::onnx
