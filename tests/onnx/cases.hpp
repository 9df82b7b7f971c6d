// Cases of ONNX's own test data (Debian package libonnx-testdata): a model of one node or a few, inputs, outputs.
#pragma once

#include <bit>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "isobar/onnx/function.hpp"

namespace isobar::onnx {

inline const std::filesystem::path data_folder = "/usr/share/libonnx-testdata/data";

struct Case {
  OnnxModel model;
  std::map<std::string, Array> values{};
  std::vector<Array> expected{};
};

/// Functions do not handle text and sequences.
inline bool in_scope(const Interface& value) {
  return value.is_tensor && (is_floating(value.type) || is_integer(value.type) || value.type == Type::boolean);
}

/// The tensor of a file. The test data stores bfloat16 as uint16 with the same bits.
inline Array read_value(const std::filesystem::path& file, Type type) {
  Array array = read_tensor(file);
  if (type != Type::bfloat16 || array.type != Type::uint16) return array;
  array.type = type;
  for (double& value : array.values) value = std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
  return array;
}

/// The difference as text, or "". Tolerances are those of ONNX's own runner: 1e-3 relative, 1e-7 absolute; whole
/// numbers and booleans must be equal. The data truncates numbers to bfloat16, where we round them.
inline std::string difference(const Array& got, const Array& wanted) {
  if (got.dims != wanted.dims) return fmt::format("dims {}, not {}", dims_text(got.dims), dims_text(wanted.dims));
  if (got.values.size() != wanted.values.size()) return "another number of elements";
  const double relative = wanted.type == Type::bfloat16 ? 1.0 / 128 : 1e-3;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    const double a = got.values[i], b = wanted.values[i];
    const double tolerance = is_floating(wanted.type) ? 1e-7 + relative * std::fabs(b) : 0;
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance;
    if (!same) return fmt::format("element {} is {}, not {}", i, a, b);
  }
  return "";
}

/// The case in that folder, or the reason why there is none.
inline std::optional<Case> read_case(const std::filesystem::path& path, std::string& reason) {
  Case result{read_model(path / "model.onnx")};
  for (const OnnxNode& node : result.model.nodes)
    if (!node.domain.empty() || !find_function(node.op)) return reason = "no function for " + node.op, std::nullopt;
  const std::filesystem::path data = path / "test_data_set_0";
  const std::vector<Interface>&inputs = result.model.inputs, &outputs = result.model.outputs;
  for (const auto* list : {&inputs, &outputs})
    for (const Interface& value : *list)
      if (!in_scope(value)) return reason = "text or sequences", std::nullopt;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    result.values[inputs[i].name] = read_value(data / fmt::format("input_{}.pb", i), inputs[i].type);
  for (const auto& [name, stored] : result.model.initializers) result.values[name] = stored.array();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    result.expected.push_back(read_value(data / fmt::format("output_{}.pb", i), outputs[i].type));
  return result;
}

}  // namespace isobar::onnx
