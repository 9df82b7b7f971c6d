// Calls a function in one line, for tests.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "isobar/base/error.hpp"
#include "isobar/onnx/function.hpp"

namespace isobar::onnx {

inline Attribute whole_attribute(std::int64_t value) {
  Attribute attribute{.kind = Attribute::Kind::integer};
  attribute.integer = value;
  return attribute;
}
inline Attribute number_attribute(double value) {
  Attribute attribute{.kind = Attribute::Kind::number};
  attribute.number = value;
  return attribute;
}
inline Attribute text_attribute(std::string value) {
  Attribute attribute{.kind = Attribute::Kind::text};
  attribute.text = std::move(value);
  return attribute;
}
inline Attribute wholes_attribute(std::vector<std::int64_t> values) {
  Attribute attribute{.kind = Attribute::Kind::integers};
  attribute.integers = std::move(values);
  return attribute;
}
inline Attribute numbers_attribute(std::vector<double> values) {
  Attribute attribute{.kind = Attribute::Kind::numbers};
  attribute.numbers = std::move(values);
  return attribute;
}
inline Attribute texts_attribute(std::vector<std::string> values) {
  Attribute attribute{.kind = Attribute::Kind::texts};
  attribute.texts = std::move(values);
  return attribute;
}

inline Array floats(Dims dims, std::vector<double> values) {
  return {Type::float32, std::move(dims), std::move(values)};
}
inline Array wholes(Dims dims, std::vector<double> values) { return {Type::int64, std::move(dims), std::move(values)}; }

/// Runs the operator `op` of that version; an input of type undefined counts as omitted.
inline std::vector<Array> call(const char* op, std::int64_t version, const std::vector<Array>& inputs,
                               std::map<std::string, Attribute> attributes = {}, std::size_t outputs = 1) {
  OnnxNode node{op, op, "", {}, std::vector<std::string>(outputs, "y"), std::move(attributes)};
  std::vector<const Array*> pointers;
  for (const Array& input : inputs) pointers.push_back(input.type == Type::undefined ? nullptr : &input);
  const Function* function = find_function(op);
  if (!function) fail("no function {}", op);
  return run_function(*function, {node, version, pointers});
}

}  // namespace isobar::onnx
