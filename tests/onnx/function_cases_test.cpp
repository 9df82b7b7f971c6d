// Every function against ONNX's own test data. Tolerances are those of the ONNX runner.
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/onnx/function.hpp"

#include "tests/onnx/cases.hpp"

namespace isobar::onnx {
namespace {

/// A function must also return the right type.
std::string difference_with_type(const Array& got, const Array& wanted) {
  if (got.type != wanted.type) return fmt::format("type {}, not {}", type_name(got.type), type_name(wanted.type));
  return difference(got, wanted);
}

/// Calls infer() with only those inputs known that it requests.
std::vector<Array> infer_sparingly(const Function& function, const Call& call) {
  std::vector<Array> copies;
  for (const Array* input : call.in) {
    copies.push_back(input ? *input : Array{});
    copies.back().known = false;
    copies.back().values.clear();
  }
  std::vector<const Array*> pointers;
  for (std::size_t i = 0; i < copies.size(); ++i) pointers.push_back(call.in[i] ? &copies[i] : nullptr);
  for (std::size_t attempt = 0; attempt <= copies.size(); ++attempt) {
    try {
      return function.infer({call.node, call.version, pointers});
    } catch (const NeedsValue& needed) {
      const auto input = static_cast<std::size_t>(needed.input);
      copies.at(input) = *call.in[input];
    }
  }
  fail("asks for the same numbers again");
}

std::vector<Array> run_checked(const Call& call) {
  const Function& function = *find_function(call.node.op);
  const std::vector<Array> outputs = run_function(function, call), inferred = infer_sparingly(function, call);
  if (inferred.size() != outputs.size()) fail("infer and run give a different number of outputs");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (inferred[i].dims != outputs[i].dims || inferred[i].type != outputs[i].type) fail("infer and run differ");
    if (inferred[i].known || !inferred[i].values.empty()) fail("infer gives numbers");
  }
  return outputs;
}

/// Runs all nodes; returns what is wrong with the outputs, or "".
std::string check(Case test) {
  for (const OnnxNode& node : test.model.nodes) {
    std::vector<const Array*> inputs;
    for (const std::string& name : node.in) inputs.push_back(name.empty() ? nullptr : &test.values.at(name));
    std::vector<Array> outputs = run_checked({node, test.model.versions.at(""), inputs});
    for (std::size_t i = 0; i < node.out.size(); ++i)
      if (!node.out[i].empty()) test.values[node.out[i]] = std::move(outputs.at(i));
  }
  for (std::size_t i = 0; i < test.expected.size(); ++i) {
    const std::string different = difference_with_type(test.values.at(test.model.outputs[i].name), test.expected[i]);
    if (!different.empty()) return fmt::format("output {}: {}", i, different);
  }
  return "";
}

/// Runs every case of a folder whose nodes all have functions; there should be at least `expected`.
void check_folder(const char* folder, int expected) {
  ASSERT_TRUE(std::filesystem::exists(data_folder)) << "needs the Debian package libonnx-testdata";
  std::map<std::string, int> skipped;
  int passed = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data_folder / folder)) {
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
  EXPECT_GE(passed, expected) << "fewer cases than this data has";
}

TEST(FunctionCases, Nodes) { check_folder("node", 850); }
TEST(FunctionCases, ConvertedFromPyTorch) { check_folder("pytorch-converted", 80); }
TEST(FunctionCases, OperatorsOfPyTorch) { check_folder("pytorch-operator", 35); }
TEST(FunctionCases, Simple) { check_folder("simple", 7); }

}  // namespace
}  // namespace isobar::onnx
