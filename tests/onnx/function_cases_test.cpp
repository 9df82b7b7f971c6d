// Every function against ONNX's own test data (Debian package libonnx-testdata): one node, its inputs, its outputs.
// Tolerances are those of the ONNX runner.
#include <bit>
#include <cmath>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/onnx/function.hpp"

namespace isobar::onnx {
namespace {

const std::filesystem::path folder = "/usr/share/libonnx-testdata/data/node";

struct Case {
  Model model;
  std::map<std::string, Array> values{};
  std::vector<Array> expected{};

  const Node& node() const { return model.nodes[0]; }
  std::vector<const Array*> inputs() const {
    std::vector<const Array*> result;
    for (const std::string& name : node().in) result.push_back(name.empty() ? nullptr : &values.at(name));
    return result;
  }
};

/// Text and sequences are no business of functions.
bool in_scope(const Interface& value) {
  return value.is_tensor && (is_floating(value.type) || is_integer(value.type) || value.type == Type::boolean);
}

/// The tensor of a file. The test data has bfloat16 as the uint16 of the same bits.
Array read_value(const std::filesystem::path& file, Type type) {
  Array array = read_tensor(file);
  if (type != Type::bfloat16 || array.type != Type::uint16) return array;
  array.type = type;
  for (double& value : array.values) value = std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
  return array;
}

/// The case in that folder, or why there is none.
std::optional<Case> read_case(const std::filesystem::path& path, std::string& reason) {
  Case result{read_model(path / "model.onnx")};
  if (result.model.nodes.size() != 1) return reason = "several nodes", std::nullopt;
  if (!result.node().domain.empty() || !find_function(result.node().op)) return reason = "no function", std::nullopt;
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

/// What is different, or "".
std::string difference(const Array& got, const Array& wanted) {
  if (got.type != wanted.type) return fmt::format("type {}, not {}", type_name(got.type), type_name(wanted.type));
  if (got.dims != wanted.dims) return fmt::format("dims {}, not {}", dims_text(got.dims), dims_text(wanted.dims));
  // The data cuts numbers off to bfloat16, where stored_as() rounds them.
  const double relative = got.type == Type::bfloat16 ? 1.0 / 128 : 1e-3;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    const double a = got.values.at(i), b = wanted.values[i];
    const double tolerance = is_floating(got.type) ? 1e-7 + relative * std::fabs(b) : 0;
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= tolerance;
    if (!same) return fmt::format("element {} is {}, not {}", i, a, b);
  }
  return "";
}

/// infer() knows of the inputs only what it asks for.
std::vector<Array> infer_sparingly(const Function& function, const Case& test, std::int64_t version) {
  std::vector<Array> copies;
  const std::vector<const Array*> inputs = test.inputs();
  for (const Array* input : inputs) {
    copies.push_back(input ? *input : Array{});
    copies.back().known = false;
    copies.back().values.clear();
  }
  std::vector<const Array*> pointers;
  for (std::size_t i = 0; i < inputs.size(); ++i) pointers.push_back(inputs[i] ? &copies[i] : nullptr);
  for (std::size_t attempt = 0; attempt <= inputs.size(); ++attempt) {
    try {
      return function.infer({test.node(), version, pointers});
    } catch (const NeedsValue& needed) {
      copies.at(static_cast<std::size_t>(needed.input)) = *inputs.at(static_cast<std::size_t>(needed.input));
    }
  }
  fail("asks for the same numbers again");
}

std::string check(const Case& test) {
  const Function& function = *find_function(test.node().op);
  const std::int64_t version = test.model.versions.at("");
  const std::vector<const Array*> inputs = test.inputs();
  const std::vector<Array> outputs = run_function(function, {test.node(), version, inputs});
  const std::vector<Array> inferred = infer_sparingly(function, test, version);
  if (inferred.size() != outputs.size()) return "infer and run give a different number of outputs";
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (inferred[i].dims != outputs[i].dims || inferred[i].type != outputs[i].type) return "infer and run differ";
    if (inferred[i].known || !inferred[i].values.empty()) return "infer gives numbers";
  }
  for (std::size_t o = 0, n = 0; o < test.node().out.size(); ++o) {
    if (test.node().out[o].empty()) continue;
    if (o >= outputs.size()) return fmt::format("output {} is missing", o);
    const std::string different = difference(outputs[o], test.expected.at(n++));
    if (!different.empty()) return fmt::format("output {}: {}", o, different);
  }
  return "";
}

TEST(FunctionCases, MatchOnnxTestData) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "ONNX's test data is missing: install libonnx-testdata";
  std::map<std::string, int> skipped;
  int passed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    try {
      std::string reason;
      const std::optional<Case> test = read_case(entry.path(), reason);
      if (!test) {
        ++skipped[reason];
        continue;
      }
      const std::string wrong = check(*test);
      EXPECT_EQ(wrong, "") << name;
      passed += wrong.empty();
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }
  for (const auto& [reason, count] : skipped) fmt::print("{} cases skipped: {}\n", count, reason);
  fmt::print("{} cases pass\n", passed);
}

}  // namespace
}  // namespace isobar::onnx
