// All public test cases of ONNX (Debian's libonnx-testdata), through import, plan and executor. Every case is passed,
// failed, or out of scope with a reason; the lists are printed by name. Out of scope are text, sequences, optional
// values, control flow, quantised integers and random numbers.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "isobar/base/error.hpp"
#include "isobar/base/text.hpp"
#include "isobar/onnx/evaluate.hpp"

#include "tests/onnx/cases.hpp"

namespace isobar::onnx {
namespace {

namespace fs = std::filesystem;

// Why an operator is out of scope, or "".
std::string out_of_scope(const std::string& op) {
  const auto is = [&](std::initializer_list<const char*> list) {
    return std::any_of(list.begin(), list.end(), [&](const char* name) { return op == name; });
  };
  if (is({"StringNormalizer", "TfIdfVectorizer"})) return "text";
  if (op.starts_with("Sequence") || is({"SplitToSequence", "ConcatFromSequence"})) return "sequences";
  if (op.starts_with("Optional")) return "optional values";
  if (is({"If", "Loop", "Scan"})) return "control flow";
  if (op.starts_with("QLinear") ||
      is({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"}))
    return "quantised integers";
  if (op.starts_with("Random") || is({"Bernoulli", "Multinomial"})) return "random numbers";
  return "";
}

std::string out_of_scope(const OnnxModel& model) {
  for (const auto* list : {&model.inputs, &model.outputs})
    for (const Interface& i : *list) {
      if (!i.is_tensor) return "sequences and optional values";
      if (i.type == Type::text) return "text";
    }
  for (const OnnxNode& node : model.nodes)
    if (const std::string reason = out_of_scope(node.op); !reason.empty()) return reason;
  return "";
}

// Cases whose data contradicts their node, each with the contradiction.
const std::map<std::string, std::string> contradictory = {
    {"test_adam_multiple", "the results were computed with epsilon = 0.01, the node has none: 1e-6"}};

// "" if all data sets of the case give the expected outputs.
std::string run_case(const fs::path& folder, const OnnxModel& model) {
  for (int set = 0; fs::exists(folder / fmt::format("test_data_set_{}", set)); ++set) {
    const fs::path data = folder / fmt::format("test_data_set_{}", set);
    std::map<std::string, Array> inputs;
    for (std::size_t i = 0; i < model.inputs.size(); ++i)
      if (const fs::path file = data / fmt::format("input_{}.pb", i); fs::exists(file))
        inputs[model.inputs[i].name] = read_value(file, model.inputs[i].type);
    const std::vector<Array> got = evaluate(model, inputs);
    for (std::size_t o = 0; o < got.size(); ++o) {
      const std::string wrong =
          difference(got[o], read_value(data / fmt::format("output_{}.pb", o), model.outputs[o].type));
      if (!wrong.empty()) return fmt::format("output {}: {}", o, wrong);
    }
  }
  return "";
}

struct Tally {
  int passed = 0, failed = 0;
};

class OnnxCases : public testing::TestWithParam<const char*> {};

TEST_P(OnnxCases, AllPassOrAreOutOfScope) {
  ASSERT_TRUE(fs::exists(data_folder)) << "needs the Debian package libonnx-testdata, which make test installs";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(data_folder / GetParam())) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  std::map<std::string, std::vector<std::string>> apart;
  std::map<std::string, Tally> by_operator;
  std::vector<std::string> failures;
  int passed = 0;
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename().string();
    std::string wrong;
    std::set<std::string> operators;
    try {
      const OnnxModel model = read_model(folder / "model.onnx");
      if (const auto known = contradictory.find(name); known != contradictory.end()) {
        apart[known->second].push_back(name);
        continue;
      }
      if (const std::string reason = out_of_scope(model); !reason.empty()) {
        apart[reason].push_back(name);
        continue;
      }
      for (const OnnxNode& node : model.nodes) operators.insert(node.op);
      wrong = run_case(folder, model);
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    if (wrong.empty()) ++passed;
    else failures.push_back(name + ": " + wrong);
    for (const std::string& op : operators) ++(wrong.empty() ? by_operator[op].passed : by_operator[op].failed);
  }
  fmt::print("{}: {} passed, {} failed, {} out of scope\n", GetParam(), passed, failures.size(),
             folders.size() - static_cast<std::size_t>(passed) - failures.size());
  for (const auto& [reason, names] : apart) fmt::print("  out of scope, {}: {}\n", reason, join(names, ", "));
  for (const std::string& f : failures) fmt::print("  failed: {}\n", f);
  for (const auto& [op, tally] : by_operator)
    EXPECT_GE(tally.passed, 9 * tally.failed) << op << ": " << tally.failed << " failed, " << tally.passed << " passed";
  EXPECT_TRUE(failures.empty());
}

INSTANTIATE_TEST_SUITE_P(Public, OnnxCases, testing::Values("node", "simple", "pytorch-converted", "pytorch-operator"),
                         [](const auto& suite) {
                           std::string name = suite.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace isobar::onnx
